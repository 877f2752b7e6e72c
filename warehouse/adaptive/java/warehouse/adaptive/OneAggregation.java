package warehouse.adaptive;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.expressions.aggregate.Final$;
import org.apache.spark.sql.catalyst.expressions.aggregate.Partial$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.HashAggregateExec;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows that lie together by the keys they are grouped by are aggregated once. Spark groups them twice all the same, in
 * one task: to partial results, as if a shuffle were to come, and those again.
 */
public final class OneAggregation extends ColumnarRule {
  private static final String SETTING = "warehouse.aggregation.once";

  public Rule preColumnarTransitions() {
    return new Once();
  }

  private static final class Once extends Rule {
    public TreeNode apply(TreeNode plan) {
      return Switch.isOn(conf(), SETTING) ? new Aggregations().of((SparkPlan) plan) : plan;
    }
  }

  private static final class Aggregations extends Rewrite {
    SparkPlan of(SparkPlan plan) {
      SparkPlan own = below(plan);
      return own instanceof HashAggregateExec ? whole((HashAggregateExec) own) : own;
    }

    private static SparkPlan whole(HashAggregateExec last) {
      if (!(last.child() instanceof HashAggregateExec)) {
        return last;
      }
      HashAggregateExec first = (HashAggregateExec) last.child();
      boolean sameRows = !first.isStreaming() && !last.isStreaming()
          && onlyColumns(first.groupingExpressions())
          && first.groupingExpressions().equals(last.groupingExpressions())
          && first.aggregateExpressions().size() == last.aggregateExpressions().size();
      if (!sameRows) {
        return last;
      }
      List partial = CollectionConverters.asJava(first.aggregateExpressions());
      List merging = CollectionConverters.asJava(last.aggregateExpressions());
      List complete = new ArrayList();
      for (int i = 0; i < partial.size(); i++) {
        AggregateExpression one = (AggregateExpression) partial.get(i);
        AggregateExpression other = (AggregateExpression) merging.get(i);
        if (one.mode() != Partial$.MODULE$ || other.mode() != Final$.MODULE$ || !one.resultId().equals(other.resultId())) {
          return last;
        }
        complete.add(one.copy(
            one.aggregateFunction(), Complete$.MODULE$, one.isDistinct(), one.filter(), one.resultId()));
      }
      SparkPlan found = last.copy(
          Option.apply(first.groupingExpressions()), false, last.numShufflePartitions(), first.groupingExpressions(),
          Wrapper.seq(complete.toArray()), last.aggregateAttributes(), 0, last.resultExpressions(), first.child());
      found.copyTagsFrom(last);
      return found;
    }

    private static boolean onlyColumns(Seq expressions) {
      List each = CollectionConverters.asJava(expressions);
      for (int i = 0; i < each.size(); i++) {
        if (!(each.get(i) instanceof AttributeReference)) {
          return false;
        }
      }
      return true;
    }
  }
}
