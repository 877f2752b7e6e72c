package warehouse.storage;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.MetadataBuilder;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/**
 * Of a query whose rows are to be spread by keys, marks the tables that are read. Where one of these is distributed so
 * already, Spark leaves out the shuffle, and then reads the table in whatever partitions it likes, since no operator
 * asks for its own; a marked one is read in its own, and of one in memory all of them.
 */
final class Written extends Rule {
  private static final String MARK = "warehouse.written";

  static boolean marked(HadoopFsRelation relation) {
    return relation.options().contains(MARK);
  }

  static boolean marked(InMemoryRelation relation) {
    return ((Attribute) relation.output().head()).metadata().contains(MARK);
  }

  public TreeNode apply(TreeNode plan) {
    LogicalPlan at = (LogicalPlan) plan;
    while (at instanceof Project || at instanceof Filter || at instanceof Sort) {
      at = (LogicalPlan) at.children().head();
    }
    return at instanceof RepartitionByExpression ? mark((LogicalPlan) plan) : plan;
  }

  private static LogicalPlan mark(LogicalPlan plan) {
    if (plan instanceof LogicalRelation && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation) {
      LogicalRelation leaf = (LogicalRelation) plan;
      HadoopFsRelation files = (HadoopFsRelation) leaf.relation();
      return files.location() instanceof PreparedDeltaFileIndex && !marked(files)
          ? Scans.over(leaf, files.bucketSpec(), (Map) files.options().updated(MARK, "true")) : plan;
    }
    if (plan instanceof InMemoryRelation) {
      return ((InMemoryRelation) plan).withOutput(marked(plan.output()));
    }
    ListBuffer children = new ListBuffer();
    boolean changed = false;
    for (int i = 0; i < plan.children().size(); i++) {
      LogicalPlan before = (LogicalPlan) plan.children().apply(i);
      LogicalPlan after = mark(before);
      changed |= after != before;
      children.addOne(after);
    }
    return changed ? (LogicalPlan) plan.withNewChildren(children.toList()) : plan;
  }

  private static Seq marked(Seq columns) {
    ListBuffer marked = new ListBuffer();
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.apply(i);
      marked.addOne(column.withMetadata(
          new MetadataBuilder().withMetadata(column.metadata()).putBoolean(MARK, true).build()));
    }
    return marked.toList();
  }
}
