package warehouse.adaptive;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.execution.LocalTableScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import scala.collection.immutable.Seq;

/** A stage without rows that has ended when the join's first side has. Nothing runs it. */
final class OtherSide extends QueryStageExec {
  private final Order order;
  private final SparkPlan nothing = new LocalTableScanExec(Wrapper.seq(new Object[0]), Wrapper.seq(new Object[0]),
      scala.Option.empty());

  OtherSide(Order order) {
    this.order = order;
  }

  public AtomicReference resultOption() {
    return order.result();
  }

  public int id() {
    return -1;
  }

  public SparkPlan plan() {
    return nothing;
  }

  public Seq output() {
    return Wrapper.seq(new Object[0]);
  }

  public scala.concurrent.Future doMaterialize() {
    throw new UnsupportedOperationException("it ends with the stage of the other side");
  }

  public Statistics getRuntimeStatistics() {
    throw new UnsupportedOperationException("it has no rows");
  }

  public scala.Option computeStats() {
    return scala.Option.empty();
  }

  public QueryPlan doCanonicalize() {
    return new OtherSide(order);
  }

  public int productArity() {
    return 1;
  }

  public Object productElement(int number) {
    return order;
  }

  public boolean canEqual(Object other) {
    return other instanceof OtherSide;
  }

  public boolean equals(Object other) {
    return other instanceof OtherSide && ((OtherSide) other).order == order;
  }

  public int hashCode() {
    return System.identityHashCode(order);
  }

  public String simpleString(int maxFields) {
    return nodeName();
  }

  public String verboseString(int maxFields) {
    return nodeName();
  }

  public String simpleStringWithNodeId() {
    return nodeName();
  }

  public void generateTreeString(int depth, java.util.ArrayList lastChildren, scala.Function1 append, boolean verbose,
      String prefix, boolean addSuffix, int maxFields, boolean printNodeId, boolean printOutputColumns, int indent) {
    // a wait is no part of what is computed
  }
}
