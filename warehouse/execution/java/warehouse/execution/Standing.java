package warehouse.execution;

import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.StreamingQuery;
import org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchFunction;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.util.Clock;

/**
 * A streaming query that looks for rows when it is asked to, and stands by in between: Spark's triggers, of which each
 * is one look and at most one micro-batch, wait for their time by a clock, and this is the clock.
 */
public final class Standing implements Clock {
  private static final long LONG = 24 * 60 * 60 * 1000L;

  private StreamingQuery query;
  private boolean looking = true;

  /** Begin, with a first look. */
  public void start(Dataset<Row> rows, String checkpoint, PythonForeachBatchFunction act) throws Exception {
    query = MicroBatches.of(rows, checkpoint, act, Trigger.ProcessingTime(LONG), this);
  }

  public StreamingQuery query() {
    return query;
  }

  /** Begin another look. */
  public synchronized void look() {
    looking = true;
    notifyAll();
  }

  /** Wait until what a look has found is done; returns whether the query still stands. */
  public synchronized boolean settled() throws InterruptedException {
    while (looking && query.isActive()) {
      wait(50);
    }
    return query.isActive();
  }

  @Override
  public long getTimeMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  /** Where a trigger waits for the next one: whatever its time, it has come when somebody asks. */
  @Override
  public synchronized long waitTillTime(long ignored) {
    looking = false;
    notifyAll();
    try {
      while (!looking) {
        wait();
      }
    } catch (InterruptedException stopped) {
      throw new UncheckedIOException(new ClosedByInterruptException());
    }
    return getTimeMillis();
  }
}
