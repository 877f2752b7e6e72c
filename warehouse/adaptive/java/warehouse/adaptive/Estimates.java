package warehouse.adaptive;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.jdk.javaapi.CollectionConverters;

/** How many distinct values columns of tables have, as far as it was told; what a condition leaves follows from that. */
public final class Estimates {
  private static final Map TABLES = new ConcurrentHashMap();

  private Estimates() {}

  /** Know the numbers of distinct values of a table's columns, by their names; of none: know nothing of it any more. */
  public static void tell(String table, Map distinct) {
    if (distinct.isEmpty()) {
      TABLES.remove(table.toLowerCase(Locale.ROOT));
    } else {
      TABLES.put(table.toLowerCase(Locale.ROOT), distinct);
    }
  }

  /** The share of the rows of a plan that a condition leaves, or a negative number where nothing is known of it. */
  static double share(Expression condition, LogicalPlan plan) {
    List parts = CollectionConverters.asJava(condition.children());
    if (condition instanceof EqualTo || condition instanceof EqualNullSafe) {
      Expression left = (Expression) parts.get(0);
      Expression right = (Expression) parts.get(1);
      return left.foldable() ? share(right, 1, plan) : right.foldable() ? share(left, 1, plan) : -1;
    }
    if (condition instanceof InSet) {
      return share((Expression) parts.get(0), ((InSet) condition).hset().size(), plan);
    }
    return condition instanceof In ? share((Expression) parts.get(0), parts.size() - 1, plan) : -1;
  }

  private static double share(Expression column, int values, LogicalPlan plan) {
    long distinct = column instanceof AttributeReference ? distinct((AttributeReference) column, plan) : 0;
    return distinct > 0 ? Math.min(1.0, (double) values / distinct) : -1;
  }

  private static long distinct(AttributeReference column, LogicalPlan plan) {
    if (plan instanceof LogicalRelation && ((LogicalRelation) plan).catalogTable().isDefined()) {
      CatalogTable table = (CatalogTable) ((LogicalRelation) plan).catalogTable().get();
      String name = table.identifier().database().get() + "." + table.identifier().table();
      Map known = (Map) TABLES.get(name.toLowerCase(Locale.ROOT));
      boolean own = plan.outputSet().contains(column);
      return own && known != null && known.get(column.name()) != null
          ? ((Number) known.get(column.name())).longValue() : 0;
    }
    List children = CollectionConverters.asJava(plan.children());
    for (int i = 0; i < children.size(); i++) {
      long found = distinct(column, (LogicalPlan) children.get(i));
      if (found > 0) {
        return found;
      }
    }
    return 0;
  }
}
