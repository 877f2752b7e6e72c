package warehouse.adaptive;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.UnaryExecNode;
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec;
import org.apache.spark.sql.execution.exchange.ENSURE_REQUIREMENTS$;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import org.apache.spark.sql.execution.joins.SortMergeJoinExec;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Of a join that shuffles both sides, lets the one that is likely small run first (Shark's static + adaptive plans).
 *
 * <p>Spark's adaptive execution starts both shuffles at once and looks at their sizes when they are there: a side that
 * turns out small is broadcast, but the other has been shuffled for nothing by then. Here the other one's shuffle waits
 * for the first side's. When that ends Spark plans the rest anew, knowing its size: if it is small, the other side is
 * never shuffled; if not, both sides are shuffled as they would have been, and nothing runs twice. What was run is a
 * shuffle's output on disk, Spark's own, which goes when the query's plan does.
 */
public final class SmallSideFirst extends Rule {
  private static final String SETTING = "warehouse.join.smallSideFirst";

  public TreeNode apply(TreeNode plan) {
    if (!Switch.isOn(conf(), SETTING)) {
      return plan;
    }
    Map seen = new HashMap();
    count((SparkPlan) plan, seen);
    return ordered((SparkPlan) plan, seen);
  }

  /** How often each exchange stands in the plan: of those that stand twice Spark runs one for both. */
  private static void count(SparkPlan plan, Map seen) {
    List children = children(plan);
    for (int i = 0; i < children.size(); i++) {
      count((SparkPlan) children.get(i), seen);
    }
    if (plan instanceof Exchange) {
      Object key = plan.canonicalized();
      Integer before = (Integer) seen.get(key);
      seen.put(key, Integer.valueOf(before == null ? 1 : before.intValue() + 1));
    }
  }

  private SparkPlan ordered(SparkPlan plan, Map seen) {
    List before = children(plan);
    List after = new ArrayList();
    boolean changed = false;
    for (int i = 0; i < before.size(); i++) {
      SparkPlan child = ordered((SparkPlan) before.get(i), seen);
      changed |= child != before.get(i);
      after.add(child);
    }
    if (plan instanceof SortMergeJoinExec || plan instanceof ShuffledHashJoinExec) {
      Sides sides = Sides.of(plan, conf());
      SparkPlan first = sides == null ? null : shuffle((SparkPlan) before.get(sides.first), false);
      SparkPlan second = sides == null ? null : shuffle((SparkPlan) before.get(1 - sides.first), true);
      if (first != null && second instanceof ShuffleExchangeExec && alone(first, seen) && alone(second, seen)) {
        Order order = new Order();
        after.set(sides.first, first((SparkPlan) after.get(sides.first), order));
        after.set(1 - sides.first, second((SparkPlan) after.get(1 - sides.first), order));
        changed = true;
      }
    }
    return changed ? (SparkPlan) plan.withNewChildren(Wrapper.seq(after.toArray())) : plan;
  }

  private static boolean alone(SparkPlan shuffle, Map seen) {
    Integer times = (Integer) seen.get(shuffle.canonicalized());
    return times == null || times.intValue() == 1;
  }

  /**
   * The shuffle that a side begins with: one that has yet to end, or null. Above it there may be what works row by row
   * or group by group; above one that is there for the join alone, nothing but sorting.
   */
  private static SparkPlan shuffle(SparkPlan side, boolean forTheJoinAlone) {
    SparkPlan at = side;
    while (at instanceof UnaryExecNode && !(at instanceof Exchange) && (!forTheJoinAlone || at instanceof SortExec)) {
      at = (SparkPlan) children(at).get(0);
    }
    if (at instanceof ShuffleQueryStageExec) {
      return ((ShuffleQueryStageExec) at).isMaterialized() ? null : at;
    }
    boolean forAJoin = at instanceof ShuffleExchangeExec
        && ((ShuffleExchangeExec) at).shuffleOrigin() == ENSURE_REQUIREMENTS$.MODULE$;
    return forAJoin ? at : null;
  }

  private static SparkPlan first(SparkPlan side, Order order) {
    if (side instanceof ShuffleQueryStageExec) {
      order.see(side);
      return side;
    }
    SparkPlan child = (SparkPlan) children(side).get(0);
    if (side instanceof ShuffleExchangeExec) {
      return new RunFirst(onto(side, new LikelySmall(child, order)), order);
    }
    return onto(side, first(child, order));
  }

  private static SparkPlan second(SparkPlan side, Order order) {
    SparkPlan child = (SparkPlan) children(side).get(0);
    if (side instanceof ShuffleExchangeExec) {
      return onto(side, new WaitForOther(child, new OtherSide(order), order));
    }
    return onto(side, second(child, order));
  }

  private static SparkPlan onto(SparkPlan plan, SparkPlan child) {
    return (SparkPlan) plan.withNewChildren(Wrapper.seq(new Object[] {child}));
  }

  static List children(SparkPlan plan) {
    return CollectionConverters.asJava(plan.children());
  }
}
