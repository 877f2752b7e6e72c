package warehouse.storage;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.collection.mutable.ListBuffer;

/**
 * What a query asks of all of a table and Delta's log says: how many rows there are, the least and the greatest value of
 * a column of whole numbers or days. Delta answers the same, by Spark jobs over its log. Of fractions it is not asked, as
 * NaN is above all of them to Spark, and to others that write tables left out.
 */
final class FromTheLog extends Rewrite {
  private final AddFile[] files;
  private final AttributeSet columns;
  private final Names names;
  private boolean silent;

  private FromTheLog(AddFile[] files, AttributeSet columns, Names names) {
    this.files = files;
    this.columns = columns;
    this.names = names;
  }

  /** The one row of an aggregate over a table of these files; null where it asks for more than the log says. */
  static LogicalPlan answer(Aggregate asked, LogicalPlan table, AddFile[] files, Names names) {
    if (!asked.groupingExpressions().isEmpty()) {
      return null;
    }
    FromTheLog log = new FromTheLog(files, table.outputSet(), names);
    ListBuffer results = new ListBuffer();
    for (int i = 0; i < asked.aggregateExpressions().size() && !log.silent; i++) {
      results.addOne(log.of((TreeNode) asked.aggregateExpressions().apply(i)));
    }
    if (log.silent) {
      return null;
    }
    ListBuffer rows = new ListBuffer();
    rows.addOne(InternalRow.empty());
    LocalRelation one = new LocalRelation(new ListBuffer().toList(), rows.toList(), false, Option.empty());
    return ConvertToLocalRelation$.MODULE$.apply(new Project(results.toList(), one));
  }

  TreeNode of(TreeNode node) {
    if (!(node instanceof AggregateExpression)) {
      return below(node);
    }
    AggregateExpression asked = (AggregateExpression) node;
    Literal known = asked.isDistinct() || asked.filter().isDefined() ? null : value(asked.aggregateFunction());
    silent |= known == null;
    return known == null ? node : known;
  }

  private Literal value(AggregateFunction asked) {
    Expression of = (Expression) asked.children().head();
    if (asked instanceof Count) {
      return asked.children().size() == 1 && of instanceof Literal && !of.nullable() ? rows() : null;
    }
    boolean known = (asked instanceof Min || asked instanceof Max) && of instanceof Attribute
        && columns.contains((Attribute) of);
    return known ? bound((Attribute) of, asked instanceof Max) : null;
  }

  private Literal rows() {
    long all = 0;
    for (int i = 0; i < files.length; i++) {
      Option rows = files[i].numLogicalRecords();
      if (rows.isEmpty()) {
        return null;
      }
      all += ((Number) rows.get()).longValue();
    }
    return new Literal(Long.valueOf(all), DataTypes.LongType);
  }

  /** The greatest or least value of a column, which is NULL without any. */
  private Literal bound(Attribute column, boolean greatest) {
    String name = names.inFiles(column.name());
    if (typed(0, column.dataType()) == null) {
      return null;
    }
    Long found = null;
    for (int i = 0; i < files.length; i++) {
      Said said = Said.of(files[i]);
      if (!said.onlyNulls(name)) {
        Long own = greatest ? said.greatest(name, column.dataType()) : said.least(name, column.dataType());
        if (own == null || files[i].deletionVector() != null) {
          return null;
        }
        found = found == null || own.compareTo(found) > 0 == greatest ? own : found;
      }
    }
    return new Literal(found == null ? null : typed(found.longValue(), column.dataType()), column.dataType());
  }

  /** A number as Spark has it in a column of a type; null for types other than whole numbers and days. */
  private static Object typed(long value, DataType type) {
    if (type.equals(DataTypes.LongType)) {
      return Long.valueOf(value);
    } else if (type.equals(DataTypes.IntegerType) || type.equals(DataTypes.DateType)) {
      return Integer.valueOf((int) value);
    } else if (type.equals(DataTypes.ShortType)) {
      return Short.valueOf((short) value);
    }
    return type.equals(DataTypes.ByteType) ? Byte.valueOf((byte) value) : null;
  }
}
