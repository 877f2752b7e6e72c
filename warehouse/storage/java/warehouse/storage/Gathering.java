package warehouse.storage;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.runtime.AbstractFunction1;
import warehouse.storage.tasks.Gathered;

/**
 * Delta has the analyzer make an expression of the statistics of a file that it is about to write, from a query over
 * no rows, `SELECT to_json(struct(count(*) AS numRecords, …))`, and evaluates that for each row. Here it gets one that
 * gives the same for less.
 */
final class Gathering extends Rule {
  /** A setting of a session; it is on unless it says false. */
  static final String SETTING = "warehouse.gathering";

  /** The tasks of this process know the classes that gather. */
  static volatile boolean ready;

  private final SparkSession session;

  Gathering(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    if (!ready || !(plan instanceof Aggregate) || !overNothing((Aggregate) plan) || !Layouts.on(session, SETTING)) {
      return plan;
    }
    return (TreeNode) ((Aggregate) plan).mapExpressions(new AbstractFunction1() {
      public Object apply(Object told) {
        return gathered((Expression) told);
      }
    });
  }

  /** No statement of a user's aggregates a relation without rows. */
  private static boolean overNothing(Aggregate plan) {
    return plan.groupingExpressions().isEmpty() && plan.child() instanceof LocalRelation
        && ((LocalRelation) plan.child()).data().isEmpty();
  }

  /** Return an expression with the struct of the statistics, which other functions are around, as one aggregate. */
  private static Expression gathered(Expression told) {
    if (told.children().size() == 1) {
      Expression child = (Expression) told.children().head();
      Expression changed = gathered(child);
      return changed == child ? told : (Expression) told.withNewChildren((Seq) new ListBuffer().addOne(changed).toList());
    }
    boolean statistics = told instanceof CreateNamedStruct && told.children().head() instanceof Literal
        && "numRecords".equals(String.valueOf(((Literal) told.children().head()).value()));
    Gathered found = statistics ? Gathered.of(told) : null;
    return found == null ? told
        : new AggregateExpression(found, Complete$.MODULE$, false, Option.empty(), NamedExpression$.MODULE$.newExprId());
  }
}
