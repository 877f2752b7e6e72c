package warehouse.adaptive;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LeafNode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SHUFFLE_HASH$;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec;
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.math.BigInt;

/**
 * Of an outer, semi or anti join Spark can send one side alone, and sends it whenever it may, though the other side be a
 * tenth of it: one thread makes one hash table of all its rows. A side that is the larger one is hashed by the tasks of
 * a shuffle instead, each a partition of it, which takes no more memory than the one table would have.
 */
final class LargerSideHashed extends SparkStrategy {
  private static final String SETTING = "warehouse.join.largerSideHashed";

  private static final Seq LEFT_TO_SPARK = (Seq) (Object) Nil$.MODULE$;

  private final SparkSession session;

  LargerSideHashed(SparkSession session) {
    this.session = session;
  }

  public Seq apply(LogicalPlan plan) {
    if (!(plan instanceof Join) || !Switch.isOn(plan.conf(), SETTING)) {
      return LEFT_TO_SPARK;
    }
    Join join = (Join) plan;
    boolean right = Sides.broadcasts(join.joinType(), false);
    boolean oneAlone = right != Sides.broadcasts(join.joinType(), true);
    LogicalPlan sent = (LogicalPlan) (right ? join.right() : join.left());
    LogicalPlan other = (LogicalPlan) (right ? join.left() : join.right());
    boolean applies = oneAlone && join.hint().equals(JoinHint.NONE()) && isTable(sent) && !isSent(sent)
        && isLarger(sent, other) && ExtractEquiJoinKeys$.MODULE$.unapply(join).isDefined();
    return applies ? hashed(join, right) : LEFT_TO_SPARK;
  }

  /** Whether a side is the larger one, not little, and small enough for Spark to send it. */
  private static boolean isLarger(LogicalPlan sent, LogicalPlan other) {
    BigInt bytes = sent.stats().sizeInBytes();
    long limit = Sides.limit(sent.conf(), sent.stats().isRuntime());
    return bytes.compare(BigInt.apply(Sides.LITTLE)) >= 0 && bytes.compare(BigInt.apply(limit)) <= 0
        && bytes.compare(other.stats().sizeInBytes()) > 0;
  }

  /** Rows of a table, or of what has run. What else there is may turn out small, or be sent to several joins at once. */
  private static boolean isTable(LogicalPlan side) {
    LogicalPlan at = side;
    while (at instanceof Project || at instanceof Filter) {
      at = (LogicalPlan) at.children().head();
    }
    return at instanceof LeafNode;
  }

  private static boolean isSent(LogicalPlan side) {
    return side instanceof LogicalQueryStage
        && ((LogicalQueryStage) side).physicalPlan() instanceof BroadcastQueryStageExec;
  }

  private Seq hashed(Join join, boolean right) {
    Option hint = new Some(new HintInfo(new Some(SHUFFLE_HASH$.MODULE$)));
    JoinHint both = new JoinHint(right ? Option.empty() : hint, right ? hint : Option.empty());
    Join told = join.copy(join.left(), join.right(), join.joinType(), join.condition(), both);
    return ((org.apache.spark.sql.classic.SparkSession) session).sessionState().planner().JoinSelection().apply(told);
  }
}
