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
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Tells whether a plan that was parsed, and not analysed, calls nothing but what Spark itself defines. */
final class Builtins {
  private Builtins() {}

  /** Whether a plan, or an expression, is so down to its leaves and in its subqueries. */
  static boolean only(TreeNode node) {
    if (!isBuiltin(node)) {
      return false;
    }
    List below = new ArrayList(CollectionConverters.asJava(node.children()));
    if (node instanceof LogicalPlan) {
      below.addAll(CollectionConverters.asJava(((LogicalPlan) node).expressions()));
      below.addAll(CollectionConverters.asJava(node.innerChildren()));
    } else if (node instanceof SubqueryExpression) {
      below.add(((SubqueryExpression) node).plan());
    }
    for (Iterator all = below.iterator(); all.hasNext();) {
      if (!only((TreeNode) all.next())) {
        return false;
      }
    }
    return true;
  }

  private static boolean isBuiltin(TreeNode node) {
    if (node instanceof UnresolvedFunction) {
      return isBuiltin(((UnresolvedFunction) node).nameParts());
    }
    if (node instanceof UnresolvedTableValuedFunction) {
      return isBuiltin(((UnresolvedTableValuedFunction) node).name());
    }
    return !(node instanceof UnresolvedGenerator) || isBuiltin(((UnresolvedGenerator) node).name());
  }

  private static boolean isBuiltin(Seq parts) {
    return parts.length() == 1 && isBuiltin(new FunctionIdentifier((String) parts.head()));
  }

  private static boolean isBuiltin(FunctionIdentifier name) {
    return name.database().isEmpty() && (FunctionRegistry$.MODULE$.builtin().functionExists(name)
        || TableFunctionRegistry$.MODULE$.builtin().functionExists(name));
  }
}
