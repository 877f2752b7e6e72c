package warehouse.endpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.execution.command.ExternalCommandExecutor;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.unsafe.Platform;

/** A statement of ours as a command of Spark's: nothing happens before Spark runs it. */
public class Act extends ExternalCommandExecutor {
  private final House house;
  private final String text;
  private final scala.collection.immutable.Seq attributes;

  public Act(House house, String text, scala.collection.immutable.Seq attributes) {
    super(null, text, new scala.collection.immutable.HashMap());
    this.house = house;
    this.text = text;
    this.attributes = attributes;
  }

  static Act of(House house, String text, String[] columns) {
    List made = new ArrayList();
    for (int i = 0; i < columns.length; i++) {
      made.add(new AttributeReference(columns[i], StringType$.MODULE$, true, Metadata.empty(),
          NamedExpression$.MODULE$.newExprId(), scala.collection.immutable.Nil$.MODULE$));
    }
    return new Act(house, text, seq(made));
  }

  /** Spark copies a plan by its fields and these. */
  public scala.collection.immutable.Seq otherCopyArgs() {
    return seq(Arrays.asList(new Object[] {house, text, attributes}));
  }

  private static scala.collection.immutable.Seq seq(List items) {
    return scala.jdk.javaapi.CollectionConverters.asScala(items).toSeq();
  }

  public scala.collection.immutable.Seq output() {
    return attributes;
  }

  public scala.collection.immutable.Seq run(SparkSession session) {
    Statement statement = new Statement(session, Execution.current(), text, null);
    Dialect.ask(house.actor, statement);
    List rows = new ArrayList();
    try {
      JsonNode given = new ObjectMapper().readTree(statement.rows);
      for (int i = 0; i < given.size(); i++) {
        JsonNode cells = (JsonNode) given.get(i);
        Object[] row = new Object[cells.size()];
        for (int j = 0; j < row.length; j++) {
          JsonNode cell = (JsonNode) cells.get(j);
          row[j] = cell.isNull() ? null : cell.isTextual() ? cell.textValue() : cell.toString();
        }
        rows.add(RowFactory.create(row));
      }
    } catch (Exception error) {
      Platform.throwException(error);
    }
    return seq(rows);
  }

  public int productArity() {
    return 0;
  }

  public scala.collection.Iterator productIterator() {
    return scala.collection.Iterator$.MODULE$.empty();
  }

  public String simpleString(int maxFields) {
    return "Act";
  }
}
