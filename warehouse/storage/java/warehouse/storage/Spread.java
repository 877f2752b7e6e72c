package warehouse.storage;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.reflect.ClassTag$;
import warehouse.storage.tasks.Paging;

/**
 * The rows of a plan as a task that writes them into a file of each partition wants them: many of one partition after
 * each other. The last column is the number of the partition.
 */
final class Spread extends SparkPlan {
  private final SparkPlan child;
  private final HashPartitioning by;

  Spread(SparkPlan child, HashPartitioning by) {
    this.child = child;
    this.by = by;
  }

  /** The query itself, its rows so. */
  static QueryExecution of(QueryExecution query, final HashPartitioning by) {
    final SparkPlan spread = new Spread(query.executedPlan(), by);
    return new QueryExecution(
        query.sparkSession(), query.analyzed(), query.tracker(), query.mode(), query.shuffleCleanupModeOpt(), false,
        java.util.UUID.randomUUID(), Option.empty()) {
      public SparkPlan executedPlan() {
        return spread;
      }
    };
  }

  public RDD doExecute() {
    return child.execute().mapPartitions(
        new Paging(by.numPartitions(), output().size()), true, ClassTag$.MODULE$.apply(InternalRow.class));
  }

  public Seq children() {
    return (Seq) new ListBuffer().addOne(child).toList();
  }

  public Seq output() {
    return child.output();
  }

  public Seq outputOrdering() {
    return child.outputOrdering();
  }

  public TreeNode withNewChildrenInternal(IndexedSeq others) {
    return new Spread((SparkPlan) others.head(), by);
  }

  /** What travels to executors, inside of operators that know their plan, is Spark's own. */
  protected Object writeReplace() {
    return child;
  }

  public int productArity() {
    return 2;
  }

  public Object productElement(int number) {
    return number == 0 ? (Object) child : by;
  }

  public boolean canEqual(Object other) {
    return other instanceof Spread;
  }

  public boolean equals(Object other) {
    return this == other;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }

  public String simpleString(int maxFields) {
    return nodeName() + " " + by.simpleString(maxFields);
  }
}
