package warehouse.storage;

import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastDistribution;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.plans.physical.UnspecifiedDistribution$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import scala.collection.mutable.ListBuffer;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Reads a table in memory by {@link MemoryScan}, and of it only those partitions that may hold a row for the query, unless
 * somebody needs all of them where they are: an operator above, with no exchange in between, or who wrote DISTRIBUTE BY
 * and got no exchange for it, as the table is distributed so already.
 */
public final class MemoryScans extends Rule {
  private final SparkSession session;

  MemoryScans(SparkSession session) {
    this.session = session;
  }

  /** The same for plans that do not adapt while they run. */
  static ColumnarRule columnar(final SparkSession session) {
    return new ColumnarRule() {
      public Rule preColumnarTransitions() {
        return new MemoryScans(session);
      }
    };
  }

  public TreeNode apply(TreeNode plan) {
    return chosen((SparkPlan) plan, !Layouts.on(session, Layouts.PRUNING), false);
  }

  private static SparkPlan chosen(SparkPlan plan, boolean needed, boolean exchanged) {
    if (plan instanceof InMemoryTableScanExec) {
      boolean free = !needed && (exchanged || !Written.marked(((InMemoryTableScanExec) plan).relation()));
      return plan instanceof MemoryScan ? plan : MemoryScan.of((InMemoryTableScanExec) plan, free);
    }
    List children = CollectionConverters.asJava(plan.children());
    ListBuffer made = new ListBuffer();
    boolean changed = false;
    for (int i = 0; i < children.size(); i++) {
      SparkPlan child = (SparkPlan) children.get(i);
      boolean exchanges = plan instanceof Exchange;
      boolean needs = !exchanges && (needed || isPlaced((Distribution) plan.requiredChildDistribution().apply(i)));
      SparkPlan after = chosen(child, needs, exchanged || exchanges);
      changed |= after != child;
      made.addOne(after);
    }
    return changed ? (SparkPlan) plan.withNewChildren(made.toList()) : plan;
  }

  private static boolean isPlaced(Distribution wanted) {
    return wanted != UnspecifiedDistribution$.MODULE$ && !(wanted instanceof BroadcastDistribution);
  }
}
