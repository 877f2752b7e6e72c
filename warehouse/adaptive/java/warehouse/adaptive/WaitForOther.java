package warehouse.adaptive;

import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.Seq;

/**
 * Stands below the shuffle of the side that waits. Spark begins a shuffle when all stages below it have ended; the
 * second child is one that ends with the first side's. Then Spark plans the join anew, without this.
 */
final class WaitForOther extends Wrapper {
  private final SparkPlan signal;

  WaitForOther(SparkPlan rows, SparkPlan signal, Order order) {
    super(rows, order);
    this.signal = signal;
  }

  public Seq children() {
    return seq(new Object[] {child, signal});
  }

  public TreeNode withNewChildrenInternal(scala.collection.immutable.IndexedSeq children) {
    return new WaitForOther((SparkPlan) children.apply(0), (SparkPlan) children.apply(1), order);
  }
}
