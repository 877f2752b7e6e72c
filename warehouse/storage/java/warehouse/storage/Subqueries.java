package warehouse.storage;

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.runtime.AbstractFunction1;

/** What becomes of the subqueries of a plan: those that are joins in the end are expressions while rules are asked. */
abstract class Subqueries extends Rewrite {
  /** What becomes of a subquery's plan. */
  abstract LogicalPlan become(LogicalPlan plan);

  final TreeNode of(TreeNode expression) {
    TreeNode known = below(expression);
    return known instanceof SubqueryExpression
        ? (TreeNode) ((SubqueryExpression) known).withNewPlan(become((LogicalPlan) ((SubqueryExpression) known).plan()))
        : known;
  }

  /** The plan with what becomes of the subqueries in its own expressions; itself where there are none. */
  final LogicalPlan within(LogicalPlan plan) {
    if (plan.subqueries().isEmpty()) {
      return plan;
    }
    return (LogicalPlan) plan.mapExpressions(new AbstractFunction1() {
      public Object apply(Object expression) {
        return of((TreeNode) expression);
      }
    });
  }
}
