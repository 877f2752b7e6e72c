package warehouse.adaptive;

import org.apache.spark.sql.catalyst.optimizer.BuildLeft$;
import org.apache.spark.sql.catalyst.optimizer.BuildRight$;
import org.apache.spark.sql.catalyst.optimizer.BuildSide;
import org.apache.spark.sql.execution.SortExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.exchange.ValidateRequirements;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import org.apache.spark.sql.execution.joins.SortMergeJoinExec;

/**
 * A join of sorted sides without the sorts: a table that is too large to be sent, but lies in the partitions of the other
 * side already, is hashed in them. Spark takes a table for too large to be hashed by the size that it would send.
 */
final class Unsorted {
  private static final String SETTING = "warehouse.join.unsorted";

  /** So many times the size of a table that is sent may all partitions of one have that are hashed, be they uneven. */
  private static final int TIMES = 4;

  /** In bytes, where none is sent whatever its size: Spark's own limit. */
  private static final long SENT = 10 << 20;

  private Unsorted() {}

  /** The join by hashing; itself where it stays. An operator above may need the order that it has no more. */
  static SparkPlan of(SortMergeJoinExec join) {
    if (!Switch.isOn(join.conf(), SETTING) || !JoinInPlace.isFree(join) || !isSorted(join)) {
      return join;
    }
    SparkPlan left = rows(join.left());
    SparkPlan right = rows(join.right());
    boolean mayLeft = Sides.broadcasts(join.joinType(), true) && isHashed(left, join);
    boolean mayRight = Sides.broadcasts(join.joinType(), false) && isHashed(right, join);
    if (!mayLeft && !mayRight) {
      return join;
    }
    boolean hashesLeft = mayLeft && !(mayRight && JoinInPlace.size(right) <= JoinInPlace.size(left));
    BuildSide side = hashesLeft ? BuildLeft$.MODULE$ : BuildRight$.MODULE$;
    ShuffledHashJoinExec made = new ShuffledHashJoinExec(
        join.leftKeys(), join.rightKeys(), join.joinType(), side, join.condition(), left, right, false);
    made.copyTagsFrom(join);
    return ValidateRequirements.validate(made) ? made : join;
  }

  private static boolean isSorted(SortMergeJoinExec join) {
    return join.left() instanceof SortExec || join.right() instanceof SortExec;
  }

  private static SparkPlan rows(SparkPlan side) {
    return side instanceof SortExec ? ((SortExec) side).child() : side;
  }

  private static boolean isHashed(SparkPlan side, SparkPlan join) {
    long sent = join.conf().autoBroadcastJoinThreshold();
    return JoinInPlace.isTable(side) && JoinInPlace.size(side) <= TIMES * (sent > 0 ? sent : SENT);
  }
}
