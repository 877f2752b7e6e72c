package warehouse.adaptive.tasks;

import java.io.Serializable;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.util.TaskCompletionListener;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** In a task, puts rows together by their key, a number. As Spark's {@code ShuffledHashJoinExec.buildHashedRelation}. */
public final class TakingRows extends AbstractFunction1 implements Serializable {
  private final Seq key;
  private final SQLMetric bytes;
  private final SQLMetric milliseconds;

  /** The key, bound to the rows, and what is told of the time and the memory that they took. */
  public TakingRows(Seq key, SQLMetric bytes, SQLMetric milliseconds) {
    this.key = key;
    this.bytes = bytes;
    this.milliseconds = milliseconds;
  }

  /** From an iterator over rows, {@link RowsByNumber}, which are there as long as the task. */
  public Object apply(Object given) {
    long start = System.nanoTime();
    TaskContext task = TaskContext.get();
    final RowsByNumber rows = new RowsByNumber(task.taskMemoryManager());
    task.addTaskCompletionListener(new TaskCompletionListener() {
      public void onTaskCompletion(TaskContext ended) {
        rows.close();
      }
    });
    UnsafeProjection keys = UnsafeProjection$.MODULE$.create(key);
    for (Iterator left = (Iterator) given; left.hasNext(); ) {
      UnsafeRow row = (UnsafeRow) left.next();
      UnsafeRow its = keys.apply(row);
      if (!its.isNullAt(0)) {
        rows.add(its.getLong(0), row);
      }
    }
    rows.arrange();
    milliseconds.add((System.nanoTime() - start) / 1000000);
    bytes.add(rows.estimatedSize());
    return rows;
  }
}
