package warehouse.storage;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.collection.mutable.ListBuffer;

/** A rule that writes the conditions of filters in another way. */
abstract class Conditions extends Rule {
  /** What a condition on the rows of a plan becomes; itself where it stays as it is. */
  abstract Expression of(Expression condition, LogicalPlan rows);

  public final TreeNode apply(TreeNode plan) {
    TreeNode whole = plan;
    if (plan instanceof Filter) {
      Filter filter = (Filter) plan;
      Expression condition = of(filter.condition(), filter.child());
      whole = condition == filter.condition() ? filter : filter.copy(condition, filter.child());
    }
    ListBuffer children = new ListBuffer();
    boolean same = true;
    for (int i = 0; i < whole.children().size(); i++) {
      TreeNode child = (TreeNode) whole.children().apply(i);
      TreeNode after = apply(child);
      same &= after == child;
      children.addOne(after);
    }
    return same ? whole : whole.withNewChildren(children.toList());
  }
}
