package warehouse.storage;

import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Multiply;
import org.apache.spark.sql.catalyst.expressions.NumericEvalContext;
import org.apache.spark.sql.catalyst.expressions.Subtract;
import org.apache.spark.sql.catalyst.expressions.UnaryMinus;
import org.apache.spark.sql.catalyst.expressions.UnscaledValue;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegralType;
import scala.Option;
import scala.collection.mutable.ListBuffer;

/**
 * A decimal expression without its point: the BIGINT that `value` gives is the decimal's unscaled value, always, since
 * the bounds of its columns leave no room for another. It is NULL where the decimal is.
 */
final class Whole {
  /** Room for one more bit and the sign. */
  private static final BigInteger MOST = BigInteger.ONE.shiftLeft(62);

  /** Longs that were seen not to overflow need no look whether they do. */
  static final NumericEvalContext UNCHECKED = new NumericEvalContext(EvalMode$.MODULE$.LEGACY(), false);

  final Expression value;
  final int scale;
  final BigInteger least;
  final BigInteger greatest;

  private Whole(Expression value, int scale, BigInteger least, BigInteger greatest) {
    this.value = value;
    this.scale = scale;
    this.least = least;
    this.greatest = greatest;
  }

  /** The greatest distance from zero. */
  BigInteger size() {
    return least.abs().max(greatest.abs());
  }

  /** Return an expression of a decimal or integral type in whole numbers; null when it is not known to fit. */
  static Whole of(Expression expression, Bounds bounds) {
    Whole found = read(expression, bounds);
    if (found == null || found.size().compareTo(MOST) >= 0) {
      return null;
    }
    if (!(expression.dataType() instanceof DecimalType)) {
      return found;
    }
    DecimalType type = (DecimalType) expression.dataType();
    boolean exact = found.scale == type.scale() && found.size().compareTo(BigInteger.TEN.pow(type.precision())) < 0;
    return exact ? found : null;
  }

  private static Whole read(Expression expression, Bounds bounds) {
    if (expression instanceof Attribute) {
      return column((Attribute) expression, bounds);
    }
    if (expression instanceof Literal) {
      return literal((Literal) expression);
    }
    if (expression instanceof Cast) {
      return expression.dataType() instanceof DecimalType ? cast((Cast) expression, bounds) : null;
    }
    boolean decimal = expression.dataType() instanceof DecimalType;
    if (decimal && expression instanceof Multiply) {
      return times(of(child(expression, 0), bounds), of(child(expression, 1), bounds));
    }
    if (decimal && (expression instanceof Add || expression instanceof Subtract)) {
      return sum(of(child(expression, 0), bounds), of(child(expression, 1), bounds), expression instanceof Subtract);
    }
    if (decimal && expression instanceof UnaryMinus) {
      Whole child = of(child(expression, 0), bounds);
      return child == null ? null : new Whole(
          new UnaryMinus(child.value, false), child.scale, child.greatest.negate(), child.least.negate());
    }
    boolean chosen = expression instanceof If || expression instanceof CaseWhen || expression instanceof Coalesce;
    return decimal && chosen ? chosen(expression, bounds) : null;
  }

  private static Whole column(Attribute column, Bounds bounds) {
    boolean decimal = column.dataType() instanceof DecimalType;
    boolean fits = decimal ? ((DecimalType) column.dataType()).precision() <= Decimal.MAX_LONG_DIGITS()
        : column.dataType() instanceof IntegralType;
    BigInteger[] ends = fits ? bounds.of(column) : null;
    if (ends == null) {
      return null;
    }
    Expression value = decimal ? new UnscaledValue(column) : asLong(column);
    return new Whole(value, decimal ? ((DecimalType) column.dataType()).scale() : 0, ends[0], ends[1]);
  }

  private static Whole literal(Literal literal) {
    int scale = literal.dataType() instanceof DecimalType ? ((DecimalType) literal.dataType()).scale() : 0;
    if (literal.value() == null) {
      return new Whole(new Literal(null, DataTypes.LongType), scale, BigInteger.ZERO, BigInteger.ZERO);
    }
    BigInteger value;
    if (literal.value() instanceof Decimal) {
      value = ((Decimal) literal.value()).toJavaBigDecimal().setScale(scale).unscaledValue();
    } else if (literal.dataType() instanceof IntegralType) {
      value = BigInteger.valueOf(((Number) literal.value()).longValue());
    } else {
      return null;
    }
    return value.bitLength() > 62 ? null : new Whole(whole(value), scale, value, value);
  }

  private static Whole cast(Cast cast, Bounds bounds) {
    boolean number = cast.child().dataType() instanceof DecimalType || cast.child().dataType() instanceof IntegralType;
    Whole child = number ? of(cast.child(), bounds) : null;
    return child == null ? null : child.scaled(((DecimalType) cast.dataType()).scale());
  }

  private static Whole times(Whole one, Whole other) {
    if (one == null || other == null) {
      return null;
    }
    BigInteger[] corners = {
      one.least.multiply(other.least), one.least.multiply(other.greatest),
      one.greatest.multiply(other.least), one.greatest.multiply(other.greatest)};
    return new Whole(
        new Multiply(one.value, other.value, UNCHECKED), one.scale + other.scale,
        corners[0].min(corners[1]).min(corners[2]).min(corners[3]),
        corners[0].max(corners[1]).max(corners[2]).max(corners[3]));
  }

  private static Whole sum(Whole one, Whole other, boolean minus) {
    if (one == null || other == null) {
      return null;
    }
    int scale = Math.max(one.scale, other.scale);
    Whole left = one.scaled(scale);
    Whole right = other.scaled(scale);
    if (left == null || right == null) {
      return null;
    }
    return minus
        ? new Whole(new Subtract(left.value, right.value, UNCHECKED), scale,
            left.least.subtract(right.greatest), left.greatest.subtract(right.least))
        : new Whole(new Add(left.value, right.value, UNCHECKED), scale,
            left.least.add(right.least), left.greatest.add(right.greatest));
  }

  /** One of several values, by conditions that stay as they are. */
  private static Whole chosen(Expression expression, Bounds bounds) {
    int scale = ((DecimalType) expression.dataType()).scale();
    ListBuffer children = new ListBuffer();
    BigInteger least = BigInteger.ZERO;
    BigInteger greatest = BigInteger.ZERO;
    int all = expression.children().size();
    for (int i = 0; i < all; i++) {
      Expression child = child(expression, i);
      boolean condition = expression instanceof If && i == 0
          || expression instanceof CaseWhen && i % 2 == 0 && i < all - all % 2;
      if (condition) {
        children.addOne(child);
        continue;
      }
      Whole branch = of(child, bounds);
      branch = branch == null ? null : branch.scaled(scale);
      if (branch == null) {
        return null;
      }
      children.addOne(branch.value);
      least = least.min(branch.least);
      greatest = greatest.max(branch.greatest);
    }
    return new Whole((Expression) expression.withNewChildren(children.toList()), scale, least, greatest);
  }

  /** The same with more digits behind the point; null when that does not fit, or there would be fewer. */
  private Whole scaled(int wanted) {
    if (wanted < scale) {
      return null;
    }
    if (wanted == scale) {
      return this;
    }
    BigInteger factor = BigInteger.TEN.pow(wanted - scale);
    if (size().multiply(factor).compareTo(MOST) >= 0 || factor.bitLength() > 62) {
      return null;
    }
    boolean constant = value instanceof Literal && ((Literal) value).value() != null;
    return new Whole(
        constant ? whole(least.multiply(factor)) : new Multiply(value, whole(factor), UNCHECKED), wanted,
        least.multiply(factor), greatest.multiply(factor));
  }

  static Literal whole(BigInteger value) {
    return new Literal(Long.valueOf(value.longValueExact()), DataTypes.LongType);
  }

  private static Expression asLong(Expression column) {
    return column.dataType().equals(DataTypes.LongType) ? column
        : new Cast(column, DataTypes.LongType, Option.empty(), EvalMode$.MODULE$.LEGACY());
  }

  private static Expression child(Expression expression, int i) {
    return (Expression) expression.children().apply(i);
  }
}
