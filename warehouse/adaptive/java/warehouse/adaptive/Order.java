package warehouse.adaptive;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;

/** The order of a join's two sides: which stage is the first, once there is one, and so whether the second may start. */
final class Order {
  private final AtomicReference never = new AtomicReference(scala.Option.empty());
  private volatile QueryStageExec first;

  /** Remember the first side's stage as soon as Spark has put it into the plan. */
  void see(SparkPlan plan) {
    if (plan instanceof QueryStageExec) {
      first = (QueryStageExec) plan;
    }
  }

  /** The result of the first side's stage; nothing while it runs or has yet to begin. */
  AtomicReference result() {
    QueryStageExec stage = first;
    return stage == null ? never : stage.resultOption();
  }
}
