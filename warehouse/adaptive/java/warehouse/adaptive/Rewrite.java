package warehouse.adaptive;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlan;
import scala.jdk.javaapi.CollectionConverters;

/** What a physical plan becomes, node by node. */
abstract class Rewrite {
  /** What becomes of the plan that begins with a node. */
  abstract SparkPlan of(SparkPlan plan);

  /** The node over what becomes of its children; itself where they stay as they are. */
  final SparkPlan below(SparkPlan plan) {
    List before = CollectionConverters.asJava(plan.children());
    List after = new ArrayList();
    boolean changed = false;
    for (int i = 0; i < before.size(); i++) {
      after.add(of((SparkPlan) before.get(i)));
      changed |= after.get(i) != before.get(i);
    }
    return changed ? (SparkPlan) plan.withNewChildren(Wrapper.seq(after.toArray())) : plan;
  }
}
