package warehouse.storage;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/** A rule that writes the conditions of filters in another way. */
abstract class Conditions extends Rule {
  /** What a condition on the rows of a plan becomes; itself where it stays as it is. */
  abstract Expression of(Expression condition, LogicalPlan rows);

  public final TreeNode apply(TreeNode plan) {
    return new Filters().of(plan);
  }

  private final class Filters extends Rewrite {
    TreeNode of(TreeNode plan) {
      if (!(plan instanceof Filter)) {
        return below(plan);
      }
      Filter filter = (Filter) plan;
      Expression condition = Conditions.this.of(filter.condition(), filter.child());
      return below(condition == filter.condition() ? filter : filter.copy(condition, filter.child()));
    }
  }
}
