package warehouse.adaptive;

import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.SparkPlan;

/** Stands above the shuffle of the side that is run first, and tells the order which stage Spark makes of it. */
final class RunFirst extends Wrapper {
  RunFirst(SparkPlan shuffle, Order order) {
    super(shuffle, order);
  }

  public TreeNode withNewChildrenInternal(scala.collection.immutable.IndexedSeq children) {
    SparkPlan shuffle = (SparkPlan) children.apply(0);
    order.see(shuffle);
    return new RunFirst(shuffle, order);
  }
}
