package warehouse.adaptive;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A node of a physical plan that passes its first child's rows on and says something about the order of stages. */
abstract class Wrapper extends SparkPlan {
  protected final SparkPlan child;
  protected final Order order;

  Wrapper(SparkPlan child, Order order) {
    this.child = child;
    this.order = order;
  }

  static Seq seq(Object[] items) {
    List list = Arrays.asList(items);
    return CollectionConverters.asScala(list).toSeq();
  }

  public Seq children() {
    return seq(new Object[] {child});
  }

  public Seq output() {
    return child.output();
  }

  public Partitioning outputPartitioning() {
    return child.outputPartitioning();
  }

  public Seq outputOrdering() {
    return child.outputOrdering();
  }

  public RDD doExecute() {
    return child.execute();
  }

  /** A plan may go to the executors along with the code of its tasks; they know nothing of this class. */
  protected Object writeReplace() {
    return child;
  }

  public int productArity() {
    return 1;
  }

  public Object productElement(int number) {
    return order;
  }

  public boolean canEqual(Object other) {
    return other instanceof Wrapper;
  }

  /** Each stands for one place in one plan. */
  public boolean equals(Object other) {
    return other != null && other.getClass() == getClass() && ((Wrapper) other).order == order
        && ((Wrapper) other).children().equals(children());
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
}
