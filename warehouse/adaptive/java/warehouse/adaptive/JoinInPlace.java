package warehouse.adaptive;

import org.apache.spark.sql.catalyst.optimizer.BuildLeft$;
import org.apache.spark.sql.catalyst.optimizer.BuildRight$;
import org.apache.spark.sql.catalyst.plans.InnerLike;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastDistribution;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec;
import org.apache.spark.sql.execution.exchange.ENSURE_REQUIREMENTS$;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec;
import org.apache.spark.sql.execution.exchange.ValidateRequirements;
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import org.apache.spark.sql.execution.joins.SortMergeJoinExec;
import org.apache.spark.sql.execution.window.WindowExec;

/**
 * Tables that are distributed alike are joined partition by partition, where Spark would send one of them to all tasks.
 *
 * <p>By the size of its files Spark takes a table of few columns for small; then one thread makes one hash table of all
 * its rows. Where rows that meet are in partitions of one number, each task makes one of its partition's, nothing is
 * sent, and no table is larger than that one would have been. (Shark's co-partitioned join; Zaharia, 3.4.2.)
 */
public final class JoinInPlace extends Rule {
  public TreeNode apply(TreeNode plan) {
    SparkPlan found = new Joins().of((SparkPlan) plan);
    SparkPlan unsorted = new UnsortedJoins().of(found);
    return unsorted == found || ValidateRequirements.validate(unsorted) ? unsorted : found;
  }

  private static final class Joins extends Rewrite {
    SparkPlan of(SparkPlan plan) {
      SparkPlan own = below(plan);
      return own instanceof BroadcastHashJoinExec ? joined((BroadcastHashJoinExec) own)
          : own instanceof ShuffledHashJoinExec ? unshuffled((ShuffledHashJoinExec) own)
          : own;
    }
  }

  private static final class UnsortedJoins extends Rewrite {
    SparkPlan of(SparkPlan plan) {
      SparkPlan own = below(plan);
      return own instanceof SortMergeJoinExec ? Unsorted.of((SortMergeJoinExec) own) : own;
    }
  }

  private static SparkPlan joined(BroadcastHashJoinExec join) {
    boolean sentIsRight = join.buildSide() == BuildRight$.MODULE$;
    SparkPlan sent = sentIsRight ? join.right() : join.left();
    if (join.isNullAwareAntiJoin() || !(sent instanceof BroadcastExchangeExec) || !isFree(join)) {
      return join;
    }
    SparkPlan rows = ((BroadcastExchangeExec) sent).child();
    if (!isTable(rows)) {
      return join;
    }
    SparkPlan here = new InPartitions().of(rows);
    SparkPlan other = new InPartitions().of(sentIsRight ? join.left() : join.right());
    SparkPlan made = inPlace(join, here, other, sentIsRight);
    made = made != null || isLittle(rows) ? made : inPlace(join, here, new OtherSent().of(other), sentIsRight);
    return made != null ? made : join;
  }

  /**
   * The join partition by partition, or null where its sides are not distributed alike. The side that would be sent is
   * hashed, or the other one if it likely is the smaller one, though nobody would dare to send it.
   */
  private static SparkPlan inPlace(BroadcastHashJoinExec join, SparkPlan here, SparkPlan other, boolean hereIsRight) {
    SparkPlan left = hereIsRight ? other : here;
    SparkPlan right = hereIsRight ? here : other;
    SparkPlan made = hashed(join, left, right, hereIsRight);
    if (!ValidateRequirements.validate(made)) {
      return null;
    }
    boolean turns = join.joinType() instanceof InnerLike && isTable(other) && likely(other) < likely(here)
        && size(other) / made.outputPartitioning().numPartitions() <= join.conf().autoBroadcastJoinThreshold();
    return turns ? hashed(join, left, right, !hereIsRight) : made;
  }

  private static SparkPlan hashed(BroadcastHashJoinExec join, SparkPlan left, SparkPlan right, boolean isRight) {
    ShuffledHashJoinExec made = new ShuffledHashJoinExec(
        join.leftKeys(), join.rightKeys(), join.joinType(), isRight ? BuildRight$.MODULE$ : BuildLeft$.MODULE$,
        join.condition(), left, right, false);
    made.copyTagsFrom(join);
    return made;
  }

  /** The join without the shuffle of a side that is distributed as the other one is, if its own joins send another table. */
  private static SparkPlan unshuffled(ShuffledHashJoinExec join) {
    SparkPlan[] sides = new SparkPlan[] {join.left(), join.right()};
    for (int i = 0; i < 2; i++) {
      if (isForTheJoin(sides[i]) && !(sides[1 - i] instanceof ShuffleExchangeExec)) {
        SparkPlan rows = new OtherSent().of(new InPartitions().of(((ShuffleExchangeExec) sides[i]).child()));
        Object[] children = new Object[] {i == 0 ? rows : sides[0], i == 0 ? sides[1] : rows};
        SparkPlan made = (SparkPlan) join.withNewChildren(Wrapper.seq(children));
        return ValidateRequirements.validate(made) ? made : join;
      }
    }
    return join;
  }

  /** Whether a shuffle is there for the join alone: who writes DISTRIBUTE BY wants one. */
  private static boolean isForTheJoin(SparkPlan side) {
    return side instanceof ShuffleExchangeExec
        && ((ShuffleExchangeExec) side).shuffleOrigin() == ENSURE_REQUIREMENTS$.MODULE$;
  }

  /** Who gives a hint has chosen. */
  static boolean isFree(SparkPlan join) {
    return join.logicalLink().isDefined() && join.logicalLink().get() instanceof Join
        && ((Join) join.logicalLink().get()).hint().equals(JoinHint.NONE());
  }

  /**
   * Rows of a table, of a streaming table's panes too, over which a window tells what still stands. What else there is
   * may turn out small, or be sent to several joins at once.
   */
  static boolean isTable(SparkPlan rows) {
    return scan(rows) != null;
  }

  private static SparkPlan scan(SparkPlan rows) {
    SparkPlan at = rows;
    while (at instanceof ProjectExec || at instanceof FilterExec || at instanceof SortExec || at instanceof WindowExec) {
      at = (SparkPlan) at.children().head();
    }
    return Expected.scan(at);
  }

  /** The bytes of a table's rows that statistics expect, where `size` takes nothing for smaller than a part of itself. */
  private static double likely(SparkPlan rows) {
    return Expected.share(scan(rows)) * size(rows);
  }

  private static boolean isLittle(SparkPlan rows) {
    return !rows.logicalLink().isDefined() || size(rows) < Sides.LITTLE;
  }

  /** By Spark's estimate, in bytes; of what nothing is known, as much as there can be. */
  static long size(SparkPlan rows) {
    return rows.logicalLink().isDefined()
        ? ((LogicalPlan) rows.logicalLink().get()).stats().sizeInBytes().toLong() : Long.MAX_VALUE;
  }

  /**
   * The plan with the distributed tables kept in their partitions that it sends to all tasks: of the inner joins of two
   * tables, each small enough for that, the other one is sent.
   */
  private static final class OtherSent extends Rewrite {
    SparkPlan of(SparkPlan plan) {
      if (plan instanceof ProjectExec || plan instanceof FilterExec) {
        return below(plan);
      }
      if (!(plan instanceof BroadcastHashJoinExec)) {
        return plan;
      }
      BroadcastHashJoinExec join = (BroadcastHashJoinExec) plan;
      boolean sentIsRight = join.buildSide() == BuildRight$.MODULE$;
      SparkPlan sent = sentIsRight ? join.right() : join.left();
      SparkPlan streamed = sentIsRight ? join.left() : join.right();
      boolean turns = isFree(join) && join.joinType() instanceof InnerLike && sent instanceof BroadcastExchangeExec
          && isTable(streamed) && isTable(((BroadcastExchangeExec) sent).child())
          && size(streamed) <= join.conf().autoBroadcastJoinThreshold();
      return turns ? turned(join, new InPartitions().of(((BroadcastExchangeExec) sent).child()), streamed) : plan;
    }

    private static SparkPlan turned(BroadcastHashJoinExec join, SparkPlan kept, SparkPlan sent) {
      boolean sentIsRight = join.buildSide() != BuildRight$.MODULE$;
      BroadcastHashJoinExec made = new BroadcastHashJoinExec(
          join.leftKeys(), join.rightKeys(), join.joinType(), sentIsRight ? BuildRight$.MODULE$ : BuildLeft$.MODULE$,
          join.condition(), sentIsRight ? kept : sent, sentIsRight ? sent : kept, false, false);
      made.copyTagsFrom(join);
      Object wanted = made.requiredChildDistribution().apply(sentIsRight ? 1 : 0);
      SparkPlan exchange = new BroadcastExchangeExec(((BroadcastDistribution) wanted).mode(), sent);
      Object[] children = new Object[] {sentIsRight ? kept : exchange, sentIsRight ? exchange : kept};
      return (SparkPlan) made.withNewChildren(Wrapper.seq(children));
    }
  }

  /** The plan with the partitions of its tables, which Spark gives up where no operator asks for them. */
  private static final class InPartitions extends Rewrite {
    SparkPlan of(SparkPlan plan) {
      if (!(plan instanceof FileSourceScanExec)) {
        return plan instanceof Exchange ? plan : below(plan);
      }
      FileSourceScanExec scan = (FileSourceScanExec) plan;
      if (!scan.disableBucketedScan()) {
        return scan;
      }
      FileSourceScanExec made = scan.copy(
          scan.relation(), scan.stream(), scan.output(), scan.requiredSchema(), scan.partitionFilters(),
          scan.optionalBucketSet(), scan.optionalNumCoalescedBuckets(), scan.dataFilters(), scan.tableIdentifier(),
          false);
      made.copyTagsFrom(scan);
      return made;
    }
  }
}
