package warehouse.storage;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.BigInt;

/**
 * Lets joins of tables in memory be planned as those of their files: by the bytes of these, and of them the
 * {@link Share} that conditions likely leave. By what it takes in memory, which is several times as much and the same
 * whatever is asked, Spark sorts or shuffles what it would send to all tasks from files.
 */
final class SizesInMemory extends Rule {
  private final SparkSession session;

  SizesInMemory(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    return Layouts.on(session, WholeSums.SETTING) ? new Tables().of(plan) : plan;
  }

  private final class Tables extends Rewrite {
    TreeNode of(TreeNode plan) {
      TreeNode rows = plan instanceof Project ? ((Project) plan).child() : plan;
      TreeNode table = rows instanceof Filter ? ((Filter) rows).child() : rows;
      if (!(table instanceof InMemoryRelation)) {
        return below(plan);
      }
      ListBuffer conditions = new ListBuffer();
      if (rows instanceof Filter) {
        FewFiles.split(((Filter) rows).condition(), conditions);
      }
      return sized((LogicalPlan) plan, (InMemoryRelation) table, conditions.toList());
    }
  }

  /** A plan over a table of which the files are known with what they hold of it; any other one as it is. */
  private LogicalPlan sized(LogicalPlan plan, InMemoryRelation table, Seq conditions) {
    FileSourceScanExec scan = Bounds.scan(table.cachedPlan());
    if (scan == null || !(scan.relation().location() instanceof PreparedDeltaFileIndex)) {
      return plan;
    }
    PreparedDeltaFileIndex index = (PreparedDeltaFileIndex) scan.relation().location();
    double share = conditions.isEmpty() ? 1 : share(index, conditions);
    BigInt rows = BigInt.apply((long) (index.sizeInBytes() * Share.atLeast(share)));
    BigInt columns = Scans.replaced(plan, table, new SizedInMemory(table, rows, rows)).stats().sizeInBytes();
    double likely = Share.ofThat(share);
    return Scans.replaced(plan, table, new SizedInMemory(table, rows, columns).withOutput(likely(table.output(), likely)));
  }

  private double share(PreparedDeltaFileIndex index, Seq conditions) {
    Pruning pruning = new Pruning(
        conditions, Names.of(index),
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState().newHadoopConf());
    List some = Share.some(CollectionConverters.asJava(index.preparedScan().files()));
    List known = new ArrayList();
    for (int i = 0; i < some.size(); i++) {
      known.add(pruning.facts(new Path(index.path(), ((AddFile) some.get(i)).toPath())));
    }
    return pruning.share().of(known);
  }

  /** Columns of which the first says how much less is likely left. */
  private static Seq likely(Seq columns, double likely) {
    Attribute first = (Attribute) columns.head();
    Metadata told = new MetadataBuilder().withMetadata(first.metadata()).putDouble(Share.LIKELY, likely).build();
    return (Seq) ((Seq) columns.tail()).prepended(first.withMetadata(told));
  }
}
