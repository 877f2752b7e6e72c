package warehouse.adaptive;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.TableCacheQueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.types.Metadata;
import scala.Option;

/** What the statistics of a table's files expect of a scan, as `Share` of `warehouse.storage` says it. */
final class Expected {
  /** Said with a relation's options, or with its first column. */
  private static final String LIKELY = "warehouse.likely";

  /** The scan of a table that a plan is, in a stage of its own or not, or null. */
  static SparkPlan scan(SparkPlan plan) {
    SparkPlan own = plan instanceof TableCacheQueryStageExec
        ? (SparkPlan) (Object) ((TableCacheQueryStageExec) plan).inMemoryTableScan() : plan;
    return own instanceof FileSourceScanExec || own instanceof InMemoryTableScanExec ? own : null;
  }

  /** By what the bytes that Spark takes for a scan's rows have to be multiplied; 1 where no less is expected. */
  static double share(SparkPlan scan) {
    if (scan instanceof FileSourceScanExec) {
      Option told = ((FileSourceScanExec) scan).relation().options().get(LIKELY);
      return told.isDefined() ? Double.parseDouble((String) told.get()) : 1;
    }
    Metadata told = ((Attribute) ((InMemoryTableScanExec) scan).relation().output().head()).metadata();
    return told.contains(LIKELY) ? told.getDouble(LIKELY) : 1;
  }
}
