package warehouse.storage;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.delta.files.TahoeFileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;
import scala.Some;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Lets a Delta table be as large as its files are. Hive's metastore notes the bytes that lie in the folder of a table when
 * it is made, and hears nothing of what Delta writes afterwards; Spark plans joins by the note, and would send a table to
 * all tasks that had ten rows once. (Nor is there any other note: ANALYZE TABLE refuses Delta's tables.)
 */
public final class CurrentSizes extends Rule {
  private static final String STATISTICS = "stats";

  public TreeNode apply(TreeNode plan) {
    return new Tables().of(plan);
  }

  private static final class Tables extends Rewrite {
    TreeNode of(TreeNode plan) {
      return plan instanceof LogicalRelation ? current((LogicalRelation) plan) : below(plan);
    }
  }

  private static LogicalPlan current(LogicalRelation relation) {
    boolean ofDelta = relation.relation() instanceof HadoopFsRelation
        && ((HadoopFsRelation) relation.relation()).location() instanceof TahoeFileIndex;
    if (!ofDelta || !relation.catalogTable().isDefined()) {
      return relation;
    }
    CatalogTable table = (CatalogTable) relation.catalogTable().get();
    return table.stats().isDefined()
        ? relation.copy(relation.relation(), relation.output(), new Some(without(table)), relation.isStreaming(),
            relation.stream())
        : relation;
  }

  /** A table without what is noted of its size. */
  private static CatalogTable without(CatalogTable table) {
    List names = CollectionConverters.asJava(table.productElementNames().toList());
    List values = new ArrayList(CollectionConverters.asJava(table.productIterator().toList()));
    values.set(names.indexOf(STATISTICS), Option.empty());
    try {
      return (CatalogTable) CatalogTable.class.getConstructors()[0].newInstance(values.toArray());
    } catch (ReflectiveOperationException changed) {
      throw new IllegalStateException("Spark's CatalogTable is not made of its elements", changed);
    }
  }
}
