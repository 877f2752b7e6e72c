package warehouse.storage;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.KnownNullable;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.TimestampType;
import scala.collection.mutable.ListBuffer;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Keeps from Spark's readers the conditions that they answer otherwise than Spark does: to Parquet the two zeros differ,
 * days that the calendar of 1582 left out become the next one there is, and what the memory store knows of its batches
 * leaves NaN out. Such a column is marked as one that may be NULL, which says nothing new and is no bare column.
 */
public final class Careful extends Conditions {
  /** The days that were left out, and the microseconds of them in any zone. */
  private static final int FIRST = -141437;
  private static final int LAST = -141428;
  private static final long DAY = 86400000000L;

  /** Whether the calendar of 1582 left a day out. */
  static boolean leftOut(long day) {
    return FIRST <= day && day <= LAST;
  }

  Expression of(Expression condition, LogicalPlan rows) {
    return marked(condition, isHeld(rows));
  }

  /** Whether rows come out of the memory store. */
  private static boolean isHeld(LogicalPlan plan) {
    LogicalPlan at = plan;
    while (at instanceof Project || at instanceof Filter) {
      at = (LogicalPlan) at.children().head();
    }
    return at instanceof InMemoryRelation;
  }

  private static Expression marked(Expression condition, boolean held) {
    boolean compares = condition instanceof BinaryComparison || condition instanceof In || condition instanceof InSet;
    boolean misread = compares && isMisread(condition, held);
    ListBuffer children = new ListBuffer();
    boolean same = true;
    for (int i = 0; i < condition.children().size(); i++) {
      Expression child = (Expression) condition.children().apply(i);
      Expression marked = !compares ? marked(child, held) : misread && isColumn(child) ? new KnownNullable(child) : child;
      same &= marked == child;
      children.addOne(marked);
    }
    return same ? condition : (Expression) condition.withNewChildren(children.toList());
  }

  private static boolean isColumn(Expression expression) {
    return expression instanceof Attribute
        || expression instanceof GetStructField && isColumn(((GetStructField) expression).child());
  }

  private static boolean isMisread(Expression comparison, boolean held) {
    DataType type = ((Expression) comparison.children().head()).dataType();
    if (held && (type instanceof DoubleType || type instanceof FloatType)) {
      return true;
    }
    for (int i = 0; i < comparison.children().size(); i++) {
      Object child = comparison.children().apply(i);
      if (child instanceof Literal && isMisread(((Literal) child).value(), type)) {
        return true;
      }
    }
    Object[] values = comparison instanceof InSet
        ? CollectionConverters.asJava(((InSet) comparison).hset()).toArray() : new Object[0];
    for (int i = 0; i < values.length; i++) {
      if (isMisread(values[i], type)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isMisread(Object value, DataType type) {
    if (value == null) {
      return false;
    }
    if (type instanceof DoubleType || type instanceof FloatType) {
      return ((Number) value).doubleValue() == 0;
    }
    if (type instanceof DateType) {
      return leftOut(((Integer) value).intValue());
    }
    if (type instanceof TimestampType) {
      long at = ((Long) value).longValue();
      return (FIRST - 1) * DAY <= at && at <= (LAST + 2) * DAY;
    }
    return false;
  }
}
