package warehouse.execution;

import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.StreamingQuery;
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink;
import org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchFunction;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.util.Clock;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.runtime.AbstractFunction2;
import scala.runtime.BoxedUnit;

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
    query = rows.sparkSession().sessionState().streamingQueryManager().startQuery(
        Option.empty(), Option.empty(), Option.apply(checkpoint), rows, Map$.MODULE$.empty(),
        new ForeachBatchSink(new Act(act), rows.exprEnc()), OutputMode.Append(), false, true,
        Trigger.ProcessingTime(LONG), this, Option.empty(), Option.empty());
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

  static final class Act extends AbstractFunction2 {
    private final PythonForeachBatchFunction act;

    Act(PythonForeachBatchFunction act) {
      this.act = act;
    }

    @Override
    public Object apply(Object rows, Object number) {
      act.call((Dataset) rows, ((Long) number).longValue());
      return BoxedUnit.UNIT;
    }
  }
}
