package warehouse.storage;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.adaptive.TableCacheQueryStageExec;

/**
 * Reads tables that are in memory by their scans, once they are there: Spark's stages of them have numbers, so of two
 * exchanges over equal ones neither was taken for the other, and both were computed.
 */
final class LoadedTables extends Rule {
  public TreeNode apply(TreeNode plan) {
    return new Stages().of(plan);
  }

  private static final class Stages extends Rewrite {
    TreeNode of(TreeNode plan) {
      return plan instanceof TableCacheQueryStageExec ? ((TableCacheQueryStageExec) plan).plan() : below(plan);
    }
  }
}
