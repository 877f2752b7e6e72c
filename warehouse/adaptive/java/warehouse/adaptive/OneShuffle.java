package warehouse.adaptive;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.PartitioningCollection;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ENSURE_REQUIREMENTS$;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.exchange.REPARTITION_BY_NUM$;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.exchange.ValidateRequirements;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows that are to be spread by keys, as those of a distributed table, are shuffled once where an aggregation or a join
 * shuffles them by these keys anyway: that shuffle gets the number of partitions that the last one would have, and the
 * last one goes. Spark leaves it out by itself where the numbers happen to be the same, and sees to it that partitions
 * of what was asked for stay as many while it runs.
 */
public final class OneShuffle extends Rule {
  private static final String SETTING = "warehouse.distribution";

  public TreeNode apply(TreeNode plan) {
    return Switch.isOn(conf(), SETTING) ? once((SparkPlan) plan) : plan;
  }

  private static SparkPlan once(SparkPlan plan) {
    if (plan instanceof ShuffleExchangeExec) {
      return without((ShuffleExchangeExec) plan);
    }
    boolean keepsPartitions = plan instanceof ProjectExec || plan instanceof FilterExec
        || plan instanceof SortExec && !((SortExec) plan).global();
    if (!keepsPartitions) {
      return plan;
    }
    SparkPlan child = (SparkPlan) plan.children().head();
    SparkPlan after = once(child);
    return after == child ? plan : (SparkPlan) plan.withNewChildren(Wrapper.seq(new Object[] {after}));
  }

  private static SparkPlan without(ShuffleExchangeExec last) {
    if (last.shuffleOrigin() != REPARTITION_BY_NUM$.MODULE$ || !(last.outputPartitioning() instanceof HashPartitioning)) {
      return last;
    }
    HashPartitioning wanted = (HashPartitioning) last.outputPartitioning();
    SparkPlan child = new Renumbered(wanted.numPartitions()).of(last.child());
    return is(child.outputPartitioning(), wanted) && ValidateRequirements.validate(child) ? child : last;
  }

  /** Gives the shuffles that a plan ends with so many partitions. */
  private static final class Renumbered extends Rewrite {
    private final int partitions;

    Renumbered(int partitions) {
      this.partitions = partitions;
    }

    SparkPlan of(SparkPlan plan) {
      if (!(plan instanceof ShuffleExchangeExec)) {
        return plan instanceof Exchange ? plan : below(plan);
      }
      ShuffleExchangeExec shuffle = (ShuffleExchangeExec) plan;
      boolean forAnOperator = shuffle.shuffleOrigin() == ENSURE_REQUIREMENTS$.MODULE$
          && shuffle.outputPartitioning() instanceof HashPartitioning;
      if (!forAnOperator) {
        return plan;
      }
      HashPartitioning by = ((HashPartitioning) shuffle.outputPartitioning());
      ShuffleExchangeExec other = shuffle.copy(
          new HashPartitioning(by.expressions(), partitions), shuffle.child(), shuffle.shuffleOrigin(),
          shuffle.advisoryPartitionSize());
      other.copyTagsFrom(shuffle);
      return other;
    }
  }

  private static boolean is(Partitioning there, HashPartitioning wanted) {
    if (there instanceof PartitioningCollection) {
      List each = CollectionConverters.asJava(((PartitioningCollection) there).partitionings());
      for (int i = 0; i < each.size(); i++) {
        if (is((Partitioning) each.get(i), wanted)) {
          return true;
        }
      }
    }
    return there instanceof HashPartitioning && ((Expression) there).semanticEquals((Expression) wanted);
  }
}
