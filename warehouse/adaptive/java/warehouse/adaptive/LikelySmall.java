package warehouse.adaptive;

import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.SparkPlan;

/**
 * Stands below the shuffle of the side that is run first and makes it unlike any other: a stage that Spark took from
 * elsewhere, having ended already, would wake nobody who waits for this one.
 */
final class LikelySmall extends Wrapper {
  LikelySmall(SparkPlan rows, Order order) {
    super(rows, order);
  }

  public TreeNode withNewChildrenInternal(scala.collection.immutable.IndexedSeq children) {
    return new LikelySmall((SparkPlan) children.apply(0), order);
  }

  public QueryPlan doCanonicalize() {
    return new LikelySmall((SparkPlan) child.canonicalized(), order);
  }
}
