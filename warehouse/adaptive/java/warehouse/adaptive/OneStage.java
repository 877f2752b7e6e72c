package warehouse.adaptive;

import org.apache.spark.sql.catalyst.optimizer.BuildRight$;
import org.apache.spark.sql.catalyst.plans.FullOuter$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;

/** Joins whose rows come from a scan, and not out of a shuffle, are {@link FusedHashJoin}s. */
public final class OneStage extends ColumnarRule {
  private static final String SETTING = "warehouse.join.fused";

  public Rule postColumnarTransitions() {
    return new Fused();
  }

  private static final class Fused extends Rule {
    public TreeNode apply(TreeNode plan) {
      return Switch.isOn(conf(), SETTING) ? new Joins().of((SparkPlan) plan) : plan;
    }
  }

  private static final class Joins extends Rewrite {
    SparkPlan of(SparkPlan plan) {
      SparkPlan own = below(plan);
      boolean fuses = own instanceof ShuffledHashJoinExec && looksUp((ShuffledHashJoinExec) own);
      return fuses ? FusedHashJoin.of((ShuffledHashJoinExec) own) : own;
    }

    /** Whether the rows of one side are looked up, one by one, and come from a scan. Else code reads both sides' rows. */
    private static boolean looksUp(ShuffledHashJoinExec join) {
      boolean hashesRight = join.buildSide() == BuildRight$.MODULE$;
      JoinType type = join.joinType();
      boolean keepsHashed = type == FullOuter$.MODULE$ || type == (hashesRight ? RightOuter$.MODULE$ : LeftOuter$.MODULE$);
      return !keepsHashed && isScan(join.streamedPlan());
    }

    private static boolean isScan(SparkPlan rows) {
      SparkPlan at = rows;
      while (at instanceof FilterExec || at instanceof ProjectExec || at instanceof BroadcastHashJoinExec) {
        at = at instanceof BroadcastHashJoinExec ? ((BroadcastHashJoinExec) at).streamedPlan()
            : (SparkPlan) at.children().head();
      }
      return at instanceof ColumnarToRowExec;
    }
  }
}
