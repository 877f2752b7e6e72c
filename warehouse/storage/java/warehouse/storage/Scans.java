package warehouse.storage;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.delta.PreprocessTableWithDVsStrategy;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy$;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/** Plans the scans of Delta tables, as Delta and Spark do, with the distribution of those tables that have one. */
public class Scans extends SparkStrategy {
  private final SparkSession session;

  Scans(SparkSession session) {
    this.session = session;
  }

  public Seq apply(LogicalPlan plan) {
    LogicalRelation leaf = leaf(plan);
    if (leaf == null) {
      return Nil$.MODULE$;
    }
    LogicalPlan known = distributed(plan, leaf);
    Seq planned = new PreprocessTableWithDVsStrategy(session).apply(known);
    if (planned.isEmpty()) {
      planned = FileSourceStrategy$.MODULE$.apply(known);
    }
    return planned.isEmpty() ? planned : one(partitioned((SparkPlan) planned.head()));
  }

  private static LogicalRelation leaf(LogicalPlan plan) {
    LogicalPlan at = plan;
    while (at instanceof Project || at instanceof Filter) {
      at = (LogicalPlan) at.children().head();
    }
    if (!(at instanceof LogicalRelation) || !(((LogicalRelation) at).relation() instanceof HadoopFsRelation)) {
      return null;
    }
    HadoopFsRelation files = (HadoopFsRelation) ((LogicalRelation) at).relation();
    return files.location() instanceof PreparedDeltaFileIndex ? (LogicalRelation) at : null;
  }

  private LogicalPlan distributed(LogicalPlan plan, LogicalRelation leaf) {
    HadoopFsRelation files = (HadoopFsRelation) leaf.relation();
    PreparedDeltaFileIndex index = (PreparedDeltaFileIndex) files.location();
    Layout layout = Layouts.of(index.path().toUri().getPath());
    if (layout == null || !Layouts.on(session, Layouts.DISTRIBUTION)
        || !layout.holdsFor(index.preparedScan().scannedSnapshot())) {
      return plan;
    }
    return replaced(plan, leaf, over(leaf, new scala.Some(layout.buckets()), files.options()));
  }

  /** The same files with other buckets and options. */
  static LogicalRelation over(LogicalRelation leaf, Option buckets, Map options) {
    HadoopFsRelation files = (HadoopFsRelation) leaf.relation();
    HadoopFsRelation known = files.copy(
        files.location(), files.partitionSchema(), files.dataSchema(), buckets, files.fileFormat(), options,
        files.sparkSession());
    return leaf.copy(known, leaf.output(), leaf.catalogTable(), leaf.isStreaming(), leaf.stream());
  }

  static LogicalPlan replaced(LogicalPlan plan, LogicalPlan leaf, LogicalPlan by) {
    if (plan == leaf) {
      return by;
    }
    return (LogicalPlan) plan.withNewChildren(one(replaced((LogicalPlan) plan.children().head(), leaf, by)));
  }

  private static SparkPlan partitioned(SparkPlan plan) {
    if (plan instanceof FileSourceScanExec) {
      return PartitionedScan.of((FileSourceScanExec) plan);
    }
    if (plan.children().isEmpty()) {
      return plan;
    }
    return (SparkPlan) plan.withNewChildren(one(partitioned((SparkPlan) plan.children().head())));
  }

  private static Seq one(Object element) {
    ListBuffer list = new ListBuffer();
    list.addOne(element);
    return list.toList();
  }
}
