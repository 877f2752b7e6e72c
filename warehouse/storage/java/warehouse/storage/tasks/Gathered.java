package warehouse.storage.tasks;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.AttributeSet$;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Expression;

import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;
import scala.Tuple2;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/**
 * The struct of statistics that Delta writes of a file, from one tally instead of three aggregates for each column:
 * least and greatest values are kept as they are and copied when they change, where Spark's aggregates write each of
 * their buffers, and copy each text twice, for every row.
 */
public final class Gathered extends DeclarativeAggregate {
  static final DataType TALLY = new ObjectType(Object.class);

  private final Seq columns;
  private final boolean[] bounded;
  private final Expression told;
  private final AttributeReference buffer;

  private Gathered(Seq columns, boolean[] bounded, Expression told, AttributeReference buffer) {
    this.columns = columns;
    this.bounded = bounded;
    this.told = told;
    this.buffer = buffer;
  }

  /** Return what gathers the same as a struct of aggregates; null where one is unknown here. */
  public static Gathered of(Expression struct) {
    AttributeReference buffer = new AttributeReference(
        "tally", TALLY, true, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), new ListBuffer().toList());
    Reader reader = new Reader(buffer);
    Expression told = reader.read(struct);
    if (reader.unknown || reader.columns.isEmpty()) {
      return null;
    }
    boolean[] bounded = new boolean[reader.columns.size()];
    ListBuffer columns = new ListBuffer();
    for (int i = 0; i < bounded.length; i++) {
      bounded[i] = ((Boolean) reader.bounded.get(i)).booleanValue();
      columns.addOne(reader.columns.get(i));
    }
    return new Gathered(columns.toList(), bounded, told, buffer);
  }

  /** Puts figures of the tally in place of aggregates, and takes note of their columns. */
  private static final class Reader {
    private final AttributeReference buffer;
    final List columns = new ArrayList();
    final List bounded = new ArrayList();
    boolean unknown;

    Reader(AttributeReference buffer) {
      this.buffer = buffer;
    }

    Expression read(Expression expression) {
      if (expression instanceof AggregateExpression) {
        Told found = figure((AggregateExpression) expression);
        unknown |= found == null;
        return found == null ? expression : found;
      }
      ListBuffer children = new ListBuffer();
      for (int i = 0; i < expression.children().size(); i++) {
        children.addOne(read((Expression) expression.children().apply(i)));
      }
      return children.isEmpty() ? expression : (Expression) expression.withNewChildren(children.toList());
    }

    private Told figure(AggregateExpression aggregate) {
      Expression function = aggregate.aggregateFunction();
      if (aggregate.isDistinct() || aggregate.filter().isDefined() || function.children().size() != 1) {
        return null;
      }
      Expression child = (Expression) function.children().head();
      if (function instanceof Count && child instanceof Literal && ((Literal) child).value() != null) {
        return told(Told.ROWS, -1, function);
      }
      if (function instanceof Min || function instanceof Max) {
        return told(function instanceof Min ? Told.LEAST : Told.GREATEST, column(child, true), function);
      }
      Expression counted = function instanceof Sum ? counted(child) : null;
      return counted == null ? null : told(Told.NULLS, column(counted, false), function);
    }

    /** Return the column of which an expression is 1 where it is NULL and 0 elsewhere; null if it is another one. */
    private static Expression counted(Expression expression) {
      if (!(expression instanceof CaseWhen) || ((CaseWhen) expression).branches().size() != 1) {
        return null;
      }
      CaseWhen cases = (CaseWhen) expression;
      Tuple2 branch = (Tuple2) cases.branches().head();
      boolean ones = isInt(branch._2(), 1) && cases.elseValue().isDefined() && isInt(cases.elseValue().get(), 0);
      return ones && branch._1() instanceof IsNull ? ((IsNull) branch._1()).child() : null;
    }

    private static boolean isInt(Object literal, int value) {
      return literal instanceof Literal && Integer.valueOf(value).equals(((Literal) literal).value());
    }

    private int column(Expression column, boolean bounds) {
      int number = columns.indexOf(column);
      if (number < 0) {
        number = columns.size();
        columns.add(column);
        bounded.add(Boolean.valueOf(bounds));
      } else if (bounds) {
        bounded.set(number, Boolean.TRUE);
      }
      return number;
    }

    private Told told(int figure, int column, Expression function) {
      return new Told(Own.only(buffer), figure, column, function.dataType());
    }
  }

  public Seq children() {
    return (Seq) columns.appended(told);
  }

  public Expression withNewChildrenInternal(IndexedSeq changed) {
    return new Gathered((Seq) changed.init(), bounded, (Expression) changed.last(), buffer);
  }

  /** What is told refers to the buffer, which no plan has to provide. */
  public AttributeSet references() {
    return AttributeSet$.MODULE$.fromAttributeSets(sets());
  }

  private Seq sets() {
    ListBuffer sets = new ListBuffer();
    for (int i = 0; i < columns.size(); i++) {
      sets.addOne(((Expression) columns.apply(i)).references());
    }
    return sets.toList();
  }

  public Seq aggBufferAttributes() {
    return Own.only(buffer);
  }

  public Seq initialValues() {
    return Own.only(new Literal(null, TALLY));
  }

  public Seq updateExpressions() {
    return Own.only(new Took((Seq) columns.prepended(buffer), bounded));
  }

  public Seq mergeExpressions() {
    throw new UnsupportedOperationException("a file is written by one task");
  }

  public Expression evaluateExpression() {
    return told;
  }

  public boolean nullable() {
    return false;
  }

  public DataType dataType() {
    return told.dataType();
  }

  public int productArity() {
    return 0;
  }

  public Object productElement(int number) {
    throw new IndexOutOfBoundsException(String.valueOf(number));
  }

  public boolean canEqual(Object other) {
    return other == this;
  }

  public boolean equals(Object other) {
    return other == this;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }
}
