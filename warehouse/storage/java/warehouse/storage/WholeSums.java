package warehouse.storage;

import java.math.BigInteger;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.BitwiseAnd;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.MakeDecimal;
import org.apache.spark.sql.catalyst.expressions.Multiply;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.NumericEvalContext;
import org.apache.spark.sql.catalyst.expressions.ShiftRight;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Average;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/**
 * Adds decimals up as whole numbers where the statistics of the files say that these are small enough; the sums are
 * the same. Spark does so by the column's type alone, up to eight digits, and takes an object for each number above.
 */
public final class WholeSums extends Rule {
  /** A session's setting; it is on unless it says false. */
  static final String SETTING = "warehouse.statistics";

  /** No sum overflows in fewer than 2^38 rows; above, Spark's check of a BIGINT's sum ends the query. */
  private static final int BITS = 25;

  /** What two parts of a sum have digits for, and above which multiplying one of them loses places. */
  private static final int DIGITS = 20;
  private static final int MOST_PLACES = 28;

  private static final NumericEvalContext CHECKED = new NumericEvalContext(EvalMode$.MODULE$.ANSI(), false);

  private final SparkSession session;

  /** Their own rules were asked before it was known which files they read. */
  private final Subqueries subqueries = new Subqueries() {
    LogicalPlan become(LogicalPlan plan) {
      return narrowed(plan);
    }
  };

  WholeSums(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    return Layouts.on(session, SETTING) ? narrowed((LogicalPlan) plan) : plan;
  }

  private LogicalPlan narrowed(LogicalPlan above) {
    LogicalPlan plan = subqueries.within(above);
    ListBuffer children = new ListBuffer();
    for (int i = 0; i < plan.children().size(); i++) {
      children.addOne(narrowed((LogicalPlan) plan.children().apply(i)));
    }
    LogicalPlan known = (LogicalPlan) plan.withNewChildren(children.toList());
    return known instanceof Aggregate ? narrowed((Aggregate) known) : known;
  }

  private LogicalPlan narrowed(Aggregate aggregate) {
    if (!anyWide(aggregate.aggregateExpressions())) {
      return aggregate;
    }
    Bounds bounds = new Bounds(
        aggregate.child(), ((org.apache.spark.sql.classic.SparkSession) session).sessionState().newHadoopConf());
    ListBuffer results = new ListBuffer();
    boolean changed = false;
    for (int i = 0; i < aggregate.aggregateExpressions().size(); i++) {
      Expression before = (Expression) aggregate.aggregateExpressions().apply(i);
      Expression after = narrowed(before, bounds);
      changed |= after != before;
      results.addOne(after);
    }
    return changed
        ? aggregate.copy(aggregate.groupingExpressions(), results.toList(), aggregate.child(), aggregate.hint())
        : aggregate;
  }

  private static Expression narrowed(Expression expression, Bounds bounds) {
    if (expression instanceof AggregateExpression) {
      Expression narrow = narrow((AggregateExpression) expression, bounds);
      return narrow == null ? expression : narrow;
    }
    ListBuffer children = new ListBuffer();
    boolean changed = false;
    for (int i = 0; i < expression.children().size(); i++) {
      Expression before = (Expression) expression.children().apply(i);
      Expression after = narrowed(before, bounds);
      changed |= after != before;
      children.addOne(after);
    }
    return changed ? (Expression) expression.withNewChildren(children.toList()) : expression;
  }

  private static Expression narrow(AggregateExpression call, Bounds bounds) {
    AggregateFunction function = call.aggregateFunction();
    if (call.isDistinct()) {
      return null;
    }
    if (function instanceof Sum && wide(((Sum) function).child())) {
      return total(((Sum) function).child(), (DecimalType) function.dataType(), call, bounds);
    }
    if (function instanceof Average && wide(((Average) function).child())) {
      Average mean = (Average) function;
      Expression total = total(mean.child(), (DecimalType) mean.sumDataType(), call, bounds);
      ListBuffer counted = new ListBuffer();
      counted.addOne(mean.child());
      Expression count = like(call, new Count(counted.toList()));
      return total == null ? null : with(mean.evaluateExpression(), mean, total, count);
    }
    return null;
  }

  private static boolean anyWide(Seq expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      Expression each = (Expression) expressions.apply(i);
      boolean adds = each instanceof Sum || each instanceof Average;
      if (adds && wide((Expression) each.children().head()) || anyWide(each.children())) {
        return true;
      }
    }
    return false;
  }

  /** Whether Spark would not add up the unscaled values by itself. */
  private static boolean wide(Expression child) {
    return child.dataType() instanceof DecimalType && ((DecimalType) child.dataType()).precision() > 8;
  }

  private static Expression total(Expression child, DecimalType type, AggregateExpression call, Bounds bounds) {
    Whole whole = Whole.of(child, bounds);
    if (whole == null || whole.size().bitLength() > 2 * BITS) {
      return null;
    }
    if (whole.size().bitLength() <= BITS) {
      return decimal(sum(whole.value, call), type.precision(), type.scale());
    }
    if (type.scale() > MOST_PLACES) {
      return null;
    }
    int digits = Math.max(DIGITS, type.scale());
    Expression high = sum(new ShiftRight(whole.value, new Literal(Integer.valueOf(BITS), DataTypes.IntegerType)), call);
    Expression low = sum(new BitwiseAnd(
        whole.value, Whole.whole(BigInteger.ONE.shiftLeft(BITS).subtract(BigInteger.ONE))), call);
    Expression factor = new Literal(Decimal.apply(1L << BITS), new DecimalType(8, 0));
    Expression both = new Add(
        new Multiply(decimal(high, digits, type.scale()), factor, CHECKED), decimal(low, digits, type.scale()), CHECKED);
    return new Cast(both, type, scala.Option.empty(), EvalMode$.MODULE$.ANSI());
  }

  private static Expression sum(Expression value, AggregateExpression call) {
    return like(call, new Sum(value, CHECKED));
  }

  private static Expression decimal(Expression whole, int precision, int scale) {
    return new MakeDecimal(whole, precision, scale, false);
  }

  /** Another function of the same rows. */
  private static Expression like(AggregateExpression call, AggregateFunction function) {
    return call.copy(function, call.mode(), false, call.filter(), NamedExpression$.MODULE$.newExprId());
  }

  private static Expression with(Expression expression, Average mean, Expression total, Expression count) {
    if (expression.semanticEquals(mean.sum())) {
      return total;
    }
    if (expression.semanticEquals(mean.count())) {
      return count;
    }
    ListBuffer children = new ListBuffer();
    for (int i = 0; i < expression.children().size(); i++) {
      children.addOne(with((Expression) expression.children().apply(i), mean, total, count));
    }
    return (Expression) expression.withNewChildren(children.toList());
  }
}
