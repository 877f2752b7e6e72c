package warehouse.adaptive;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.plans.ExistenceJoin;
import org.apache.spark.sql.catalyst.plans.FullOuter$;
import org.apache.spark.sql.catalyst.plans.InnerLike;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftAnti$;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.internal.SQLConf;
import scala.jdk.javaapi.CollectionConverters;

/** What is known of a join's sides before anything has run, and the one that is likely small: 0 left, 1 right. */
final class Sides {
  /** By Spark's estimate, in bytes: what is less is sent to all tasks sooner than partitions are made or looked into. */
  static final long LITTLE = 1 << 20;

  final int first;

  private Sides(int first) {
    this.first = first;
  }

  /** The likely small side of a join, or null when there is none that could be broadcast. */
  static Sides of(SparkPlan physical, SQLConf conf) {
    Object linked = physical.logicalLink().isDefined() ? physical.logicalLink().get() : null;
    if (!(linked instanceof Join) || limit(conf, true) <= 0) {
      return null;
    }
    Join join = (Join) linked;
    if (!join.hint().equals(JoinHint.NONE())) { // the user has chosen
      return null;
    }
    LogicalPlan[] sides = new LogicalPlan[] {(LogicalPlan) join.left(), (LogicalPlan) join.right()};
    int larger = sides[0].stats().sizeInBytes().compare(sides[1].stats().sizeInBytes());
    for (int side = 0; side < 2; side++) {
      boolean smaller = side == 0 ? larger <= 0 : larger >= 0;
      if (smaller && broadcasts(join.joinType(), side == 0) && carriesFilter(sides[side])) {
        return new Sides(side);
      }
    }
    return null;
  }

  /**
   * Up to how many bytes the side of a join is broadcast; not positive: it is not. Adaptive execution may have a limit
   * of its own for what has run.
   */
  static long limit(SQLConf conf, boolean hasRun) {
    scala.Option own = (scala.Option) conf.getConf(SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD());
    return hasRun && own.isDefined() ? ((Long) own.get()).longValue() : conf.autoBroadcastJoinThreshold();
  }

  /** Whether a join of this type may send its left, or its right, side to everybody. */
  static boolean broadcasts(JoinType type, boolean left) {
    if (type instanceof InnerLike) {
      return true;
    }
    return left ? type instanceof RightOuter$
        : type instanceof LeftOuter$ || type instanceof LeftSemi$ || type instanceof LeftAnti$
            || type instanceof ExistenceJoin;
  }

  /** Whether fewer rows come out of a plan than its size says, by a filter whose effect nobody can estimate. */
  static boolean carriesFilter(LogicalPlan plan) {
    if (plan instanceof Filter && isOpaque(((Filter) plan).condition())) {
      return true;
    }
    List children = CollectionConverters.asJava(plan.children());
    if (plan instanceof UnaryNode) {
      return carriesFilter((LogicalPlan) children.get(0));
    }
    if (plan instanceof Join) {
      JoinType type = ((Join) plan).joinType();
      boolean byLeft = !(type instanceof RightOuter$) && !(type instanceof FullOuter$);
      boolean byRight = type instanceof InnerLike || type instanceof LeftSemi$ || type instanceof RightOuter$;
      return byLeft && carriesFilter((LogicalPlan) children.get(0))
          || byRight && carriesFilter((LogicalPlan) children.get(1));
    }
    return false;
  }

  /** Whether a condition may well leave next to nothing: anything but ranges of a column, and NOT NULL. */
  static boolean isOpaque(Expression condition) {
    if (condition instanceof And) {
      return isOpaque(((And) condition).left()) || isOpaque(((And) condition).right());
    }
    if (condition instanceof IsNotNull) {
      return false;
    }
    if (condition instanceof BinaryComparison && !(condition instanceof EqualTo)
        && !(condition instanceof EqualNullSafe)) {
      List sides = CollectionConverters.asJava(condition.children());
      Expression left = (Expression) sides.get(0);
      Expression right = (Expression) sides.get(1);
      boolean range = left instanceof Attribute && right.foldable() || right instanceof Attribute && left.foldable();
      return !range;
    }
    return true;
  }
}
