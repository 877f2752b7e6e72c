package warehouse.execution;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import scala.Function1;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/** What becomes of an analysed plan when other plans take the places of views in it, in subqueries too. */
abstract class Places {
  private final Function1 below = new AbstractFunction1() {
    @Override
    public Object apply(Object child) {
      return of((LogicalPlan) child);
    }
  };

  private final AbstractPartialFunction inSubqueries = new AbstractPartialFunction() {
    @Override
    public boolean isDefinedAt(Object expression) {
      return expression instanceof SubqueryExpression;
    }

    @Override
    public Object applyOrElse(Object expression, Function1 otherwise) {
      return expression instanceof SubqueryExpression
          ? ofSubquery((SubqueryExpression) expression) : otherwise.apply(expression);
    }
  };

  /** What comes under a view; null where the view stays as it is. */
  abstract LogicalPlan under(View view);

  /** What becomes of a subquery, whose plan others may take places in. */
  Expression ofSubquery(SubqueryExpression subquery) {
    LogicalPlan plan = of((LogicalPlan) subquery.plan());
    plan.setAnalyzed();
    return subquery.withNewPlan(plan);
  }

  /** What becomes of a plan. */
  final LogicalPlan of(LogicalPlan plan) {
    if (plan instanceof View) {
      View view = (View) plan;
      LogicalPlan content = under(view);
      return content == null ? plan : view.copy(view.desc(), view.isTempView(), content, view.options());
    }
    LogicalPlan over = (LogicalPlan) plan.mapChildren(below);
    return over.containsPattern(TreePattern.PLAN_EXPRESSION())
        ? (LogicalPlan) over.transformExpressions(inSubqueries) : over;
  }
}
