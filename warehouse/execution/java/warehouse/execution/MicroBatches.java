package warehouse.execution;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.classic.StreamingQuery;
import org.apache.spark.sql.execution.LogicalRDD$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchFunction;
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSourceV1;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.util.Clock;
import org.apache.spark.util.SystemClock;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.runtime.AbstractFunction1;

/**
 * Streaming queries of whose micro-batches something else is done with a frame of each.
 *
 * <p>The frame of files is their scan, of which a text reads the columns that it needs, and into which its code is
 * generated. Spark's `ForeachBatchSink` gives out the rows of a finished plan instead, which has read all
 * columns; so does this for sources of which a micro-batch is more than files.
 */
public final class MicroBatches {
  /** Start a query whose micro-batches are all that is there now. */
  public StreamingQuery ofAll(Dataset<Row> rows, String checkpoint, PythonForeachBatchFunction act) throws Exception {
    return of(rows, checkpoint, act, Trigger.AvailableNow(), new SystemClock());
  }

  /** Start a query whose micro-batches come by a trigger and its clock. */
  static StreamingQuery of(
      Dataset<Row> rows, String checkpoint, PythonForeachBatchFunction act, Trigger trigger, Clock clock)
      throws Exception {
    return rows.sparkSession().sessionState().streamingQueryManager().startQuery(
        Option.empty(), Option.empty(), Option.apply(checkpoint), rows, Map$.MODULE$.empty(), new Each(act),
        OutputMode.Append(), false, true, trigger, clock, Option.empty(), Option.empty());
  }

  static final class Each implements Sink {
    private final PythonForeachBatchFunction act;

    Each(PythonForeachBatchFunction act) {
      this.act = act;
    }

    @Override
    public void addBatch(long number, org.apache.spark.sql.Dataset<Row> batch) {
      QueryExecution its = batch.queryExecution();
      LogicalPlan plan = standing(((WriteToMicroBatchDataSourceV1) its.analyzed()).child());
      if (plan.isStreaming()) {
        plan = LogicalRDD$.MODULE$.fromDataset(its.toRdd(), (Dataset) batch, false);
      } else {
        plan.setAnalyzed();
      }
      act.call(Dataset.ofRows((SparkSession) batch.sparkSession(), plan), number);
    }

    @Override
    public String toString() {
      return "MicroBatches";
    }

    /** A plan of which what reads files reads them as those of a table, and no longer as a stream's. */
    private static LogicalPlan standing(LogicalPlan plan) {
      if (plan instanceof LogicalRelation && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation) {
        LogicalRelation files = (LogicalRelation) plan;
        return files.copy(files.relation(), files.output(), Option.empty(), false, Option.empty());
      }
      if (plan instanceof LocalRelation) { // of a source that has nothing this time
        LocalRelation none = (LocalRelation) plan;
        return none.copy(none.output(), none.data(), false, Option.empty());
      }
      return (LogicalPlan) plan.mapChildren(new AbstractFunction1() {
        @Override
        public Object apply(Object child) {
          return standing((LogicalPlan) child);
        }
      });
    }
  }
}
