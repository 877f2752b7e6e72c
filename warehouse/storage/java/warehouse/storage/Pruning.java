package warehouse.storage;

import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.MetadataAttribute;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.StartsWith;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.expressions.Year;
import org.apache.spark.sql.catalyst.util.TypeUtils$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Says which files cannot hold a row that a query wants, before any task starts (Shark's map pruning, 3.4.3 of the
 * dissertation). Delta has compared plain columns with constants by then. Here every condition on one column is tried
 * on each value of the column, where the file has few; and columns under a cast that keeps order are compared by their
 * least and greatest value. What is not understood keeps the file.
 */
final class Pruning {
  private final List asked = new ArrayList();
  private final Names names;
  private final Configuration configuration;

  Pruning(Seq conditions, Names names, Configuration configuration) {
    this.names = names;
    this.configuration = configuration;
    for (int i = 0; i < conditions.size(); i++) {
      Expression condition = (Expression) conditions.apply(i);
      if (understood(condition)) {
        asked.add(condition);
      }
    }
  }

  /** What is known of a file's columns; null where nothing is, or nothing is asked. */
  Facts facts(Path file) {
    try {
      return asked.isEmpty() ? null : Facts.of(file, configuration).under(names);
    } catch (Exception unreadable) {
      return null;
    }
  }

  /** Whether a file of which this is known may hold a row that meets all of the conditions. */
  boolean keeps(Facts facts) {
    for (int i = 0; facts != null && i < asked.size(); i++) {
      if (!mayBeTrue((Expression) asked.get(i), facts)) {
        return false;
      }
    }
    return true;
  }

  /** Which share of the rows of a file the conditions likely leave. */
  Share share() {
    return new Share(asked);
  }

  /** Whether an expression gives the same for the same row, and is Spark's own throughout. */
  private static boolean understood(Expression condition) {
    if (!condition.deterministic() || condition instanceof UserDefinedExpression
        || condition instanceof PlanExpression) {
      return false;
    }
    Seq children = condition.children();
    for (int i = 0; i < children.size(); i++) {
      if (!understood((Expression) children.apply(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean mayBeTrue(Expression condition, Facts facts) {
    if (condition instanceof And) {
      return mayBeTrue(((And) condition).left(), facts) && mayBeTrue(((And) condition).right(), facts);
    }
    if (condition instanceof Or) {
      return mayBeTrue(((Or) condition).left(), facts) || mayBeTrue(((Or) condition).right(), facts);
    }
    try {
      return tried(condition, facts) && compared(condition, facts);
    } catch (RuntimeException failure) {  // the query fails for that value, or has no row with it
      return true;
    }
  }

  // ---------------------------------------------------------------- all values of a column

  private static boolean tried(Expression condition, Facts facts) {
    Expression reference = onlyColumn(condition);
    String path = reference == null ? null : path(reference);
    Column column = path == null ? null : facts.column(path);
    List values = column == null ? null : column.valuesAs(reference.dataType());
    if (values == null) {
      return true;
    }
    for (int i = 0; i < values.size(); i++) {
      if (isTrue(condition, path, values.get(i), reference.dataType())) {
        return true;
      }
    }
    return column.nulls != 0 && isTrue(condition, path, null, reference.dataType());
  }

  /** The one column that a condition is of; null where it is of none, or several, or of what Spark says of files. */
  static Expression onlyColumn(Expression condition) {
    List columns = new ArrayList();
    collect(condition, columns);
    for (int i = 0; i < columns.size(); i++) {
      String path = path((Expression) columns.get(i));
      if (path == null || !path.equals(path((Expression) columns.get(0)))) {
        return null;
      }
    }
    return columns.isEmpty() ? null : (Expression) columns.get(0);
  }

  /** Whether a condition on a column holds for a value of it. */
  static boolean isTrue(Expression condition, String path, Object value, DataType type) {
    return Boolean.TRUE.equals(with(condition, path, new Literal(value, type)).eval(null));
  }

  private static Expression with(Expression expression, String path, Literal value) {
    if (path.equals(path(expression))) {
      return value;
    }
    if (expression.children().isEmpty()) {
      return expression;
    }
    ListBuffer children = new ListBuffer();
    for (int i = 0; i < expression.children().size(); i++) {
      children.addOne(with((Expression) expression.children().apply(i), path, value));
    }
    return (Expression) expression.withNewChildren(children.toList());
  }

  private static void collect(Expression expression, List columns) {
    if (expression instanceof Attribute || path(expression) != null) {
      columns.add(expression);
      return;
    }
    for (int i = 0; i < expression.children().size(); i++) {
      collect((Expression) expression.children().apply(i), columns);
    }
  }

  /**
   * The path of a column or of a field in it, with dots; null for anything else. A field of `_metadata` is an attribute
   * of its own where Spark plans a scan, with a name that a column may have as well.
   */
  static String path(Expression expression) {
    if (expression instanceof Attribute) {
      Attribute column = (Attribute) expression;
      return MetadataAttribute.isValid(column.metadata()) ? null : column.name();
    }
    if (expression instanceof GetStructField) {
      GetStructField field = (GetStructField) expression;
      String above = path(field.child());
      StructType type = (StructType) field.child().dataType();
      return above == null ? null : above + "." + type.fields()[field.ordinal()].name();
    }
    return null;
  }

  // ---------------------------------------------------------------- least and greatest

  private static boolean compared(Expression condition, Facts facts) {
    if (condition instanceof IsNull) {
      Column column = column(((IsNull) condition).child(), facts);
      return column == null || column.nulls != 0;
    }
    if (condition instanceof IsNotNull) {
      Column column = column(((IsNotNull) condition).child(), facts);
      return column == null || column.nulls != facts.rows;
    }
    if (condition instanceof EqualTo) {
      return meet(((EqualTo) condition).left(), ((EqualTo) condition).right(), facts);
    }
    if (condition instanceof EqualNullSafe && isValue(condition)) {
      return meet(((EqualNullSafe) condition).left(), ((EqualNullSafe) condition).right(), facts);
    }
    if (condition instanceof LessThan) {
      return before(((LessThan) condition).left(), ((LessThan) condition).right(), false, facts);
    }
    if (condition instanceof LessThanOrEqual) {
      return before(((LessThanOrEqual) condition).left(), ((LessThanOrEqual) condition).right(), true, facts);
    }
    if (condition instanceof GreaterThan) {
      return before(((GreaterThan) condition).right(), ((GreaterThan) condition).left(), false, facts);
    }
    if (condition instanceof GreaterThanOrEqual) {
      return before(((GreaterThanOrEqual) condition).right(), ((GreaterThanOrEqual) condition).left(), true, facts);
    }
    if (condition instanceof In) {
      In in = (In) condition;
      for (int i = 0; i < in.list().size(); i++) {
        if (meet(in.value(), (Expression) in.list().apply(i), facts)) {
          return true;
        }
      }
      return false;
    }
    if (condition instanceof InSet) {
      InSet in = (InSet) condition;
      Object[] values = CollectionConverters.asJava(in.hset()).toArray();
      for (int i = 0; i < values.length; i++) {
        if (values[i] != null && meet(in.child(), new Literal(values[i], in.child().dataType()), facts)) {
          return true;
        }
      }
      return false;
    }
    if (condition instanceof StartsWith) {
      return begins((StartsWith) condition, facts);
    }
    return true;
  }

  /** Whether one of two sides is a value other than NULL. */
  private static boolean isValue(Expression condition) {
    for (int i = 0; i < 2; i++) {
      Expression side = (Expression) condition.children().apply(i);
      if (side instanceof Literal && ((Literal) side).value() != null) {
        return true;
      }
    }
    return false;
  }

  private static Column column(Expression expression, Facts facts) {
    String path = path(expression);
    return path == null ? null : facts.column(path);
  }

  private static boolean meet(Expression one, Expression other, Facts facts) {
    return before(one, other, true, facts) && before(other, one, true, facts);
  }

  /** Whether some value of `one` may come before some value of `other`. */
  private static boolean before(Expression one, Expression other, boolean orEqual, Facts facts) {
    Object least = end(one, facts, true);
    Object greatest = end(other, facts, false);
    if (least == null || greatest == null || !one.dataType().equals(other.dataType())) {
      return true;
    }
    int order = TypeUtils$.MODULE$.getInterpretedOrdering(one.dataType()).compare(least, greatest);
    return orEqual ? order <= 0 : order < 0;
  }

  private static boolean begins(StartsWith condition, Facts facts) {
    Object least = end(condition.left(), facts, true);
    Object greatest = end(condition.left(), facts, false);
    if (!(condition.right() instanceof Literal) || !condition.left().dataType().equals(DataTypes.StringType)) {
      return true;
    }
    UTF8String prefix = (UTF8String) ((Literal) condition.right()).value();
    if (least == null || greatest == null || prefix == null) {
      return true;
    }
    boolean allAfter = prefix.compareTo((UTF8String) least) < 0 && !((UTF8String) least).startsWith(prefix);
    boolean allBefore = prefix.compareTo((UTF8String) greatest) > 0;
    return !allAfter && !allBefore;
  }

  /** The least or the greatest value that an expression has in a file; null when it cannot be told. */
  private static Object end(Expression expression, Facts facts, boolean least) {
    if (expression instanceof Literal) {
      return ((Literal) expression).value();
    }
    Column column = column(expression, facts);
    if (column != null) {
      return column.as(least ? column.least : column.greatest, expression.dataType());
    }
    if (expression.children().size() == 1 && keepsOrder(expression)) {
      Object value = end((Expression) expression.children().head(), facts, least);
      return value == null ? null : farthest(expression, value, least);
    }
    return null;
  }

  /** What an expression that keeps order is at most, or at least, where its child is at most or at least a value. */
  private static Object farthest(Expression expression, Object value, boolean least) {
    Object found = of(expression, value);
    if (!isDayOfInstant(expression)) {
      return found;
    }
    ZoneId zone = ((Cast) expression).zoneId();
    long micros = ((Long) value).longValue();
    Long change = least ? Clocks.after(micros, zone) : Clocks.before(micros, zone);
    Integer other = change == null ? (Integer) found : (Integer) of(expression, change);
    boolean earlier = other.compareTo((Integer) found) < 0;
    return earlier == least ? other : found;
  }

  /** What an expression is where its child is a value. */
  private static Object of(Expression expression, Object value) {
    ListBuffer fixed = new ListBuffer();
    fixed.addOne(new Literal(value, ((Expression) expression.children().head()).dataType()));
    return ((Expression) expression.withNewChildren(fixed.toList())).eval(null);
  }

  /** Whether an expression is the day of an instant, which keeps order unless clocks go back past midnight. */
  private static boolean isDayOfInstant(Expression expression) {
    return expression instanceof Cast && expression.dataType() instanceof DateType
        && ((Cast) expression).child().dataType() instanceof TimestampType;
  }

  private static boolean keepsOrder(Expression expression) {
    if (expression instanceof Year) {
      return true;
    }
    if (!(expression instanceof Cast)) {
      return false;
    }
    DataType from = ((Cast) expression).child().dataType();
    DataType to = expression.dataType();
    if (isDayOfInstant(expression) || from instanceof DateType && to instanceof TimestampType) {
      return true;
    }
    boolean widens = Cast.canUpCast(from, to);
    return from instanceof IntegralType && to instanceof NumericType && widens
        || from instanceof DecimalType && to instanceof DecimalType && widens;
  }
}
