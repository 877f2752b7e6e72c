package warehouse.execution;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedGenerator;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Tells whether a plan that was parsed, and not analysed, calls nothing but what Spark itself defines. */
final class Builtins {
  private Builtins() {}

  static boolean only(LogicalPlan plan) {
    if (plan instanceof UnresolvedTableValuedFunction && !isBuiltin(((UnresolvedTableValuedFunction) plan).name())) {
      return false;
    }
    List below = new ArrayList(CollectionConverters.asJava(plan.children()));
    below.addAll(CollectionConverters.asJava(plan.innerChildren()));
    below.addAll(CollectionConverters.asJava(plan.subqueries()));
    for (Iterator plans = below.iterator(); plans.hasNext();) {
      Object its = plans.next();
      if (!(its instanceof LogicalPlan) || !only((LogicalPlan) its)) {
        return false;
      }
    }
    for (Iterator all = CollectionConverters.asJava(plan.expressions()).iterator(); all.hasNext();) {
      if (!only((Expression) all.next())) {
        return false;
      }
    }
    return true;
  }

  private static boolean only(Expression expression) {
    if (expression instanceof UnresolvedFunction && !isBuiltin(((UnresolvedFunction) expression).nameParts())) {
      return false;
    }
    if (expression instanceof UnresolvedGenerator && !isBuiltin(((UnresolvedGenerator) expression).name())) {
      return false;
    }
    for (Iterator all = CollectionConverters.asJava(expression.children()).iterator(); all.hasNext();) {
      if (!only((Expression) all.next())) {
        return false;
      }
    }
    return true;
  }

  private static boolean isBuiltin(Seq parts) {
    return parts.length() == 1 && isBuiltin(new FunctionIdentifier((String) parts.head()));
  }

  private static boolean isBuiltin(FunctionIdentifier name) {
    return name.database().isEmpty() && (FunctionRegistry$.MODULE$.builtin().functionExists(name)
        || TableFunctionRegistry$.MODULE$.builtin().functionExists(name));
  }
}
