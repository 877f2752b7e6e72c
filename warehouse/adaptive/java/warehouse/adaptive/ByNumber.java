package warehouse.adaptive;

import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.execution.joins.HashedRelation;
import org.apache.spark.sql.execution.joins.HashedRelationInfo;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.types.DataTypes;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;
import warehouse.adaptive.tasks.TakingRows;

/** In the generated code of a join whose key is a number, rows in the order of the keys instead of hashed ones. */
final class ByNumber {
  private static final String SETTING = "warehouse.join.byNumber";

  /** Whether tasks have what they need for it. */
  static volatile boolean shipped;

  private ByNumber() {}

  /** Whether a join can do so. Spark keeps one row of a key where more of them change nothing, and nothing else does. */
  static boolean suits(ShuffledHashJoinExec join) {
    return shipped && isNumber(join.buildBoundKeys()) && !join.ignoreDuplicatedKey()
        && Switch.isOn(join.conf(), SETTING);
  }

  /** Whether a join's keys, as Spark looks them up, are a single number; it makes one of several that fit into it. */
  static boolean isNumber(Seq keys) {
    return keys.size() == 1 && ((Expression) keys.head()).dataType().equals(DataTypes.LongType);
  }

  static HashedRelationInfo relation(CodegenContext context, ShuffledHashJoinExec join) {
    TakingRows taking = new TakingRows(join.buildBoundKeys(), metric(join, "buildDataSize"), metric(join, "buildTime"));
    final String made = context.addReferenceObj("takingRows", taking, Function1.class.getName());
    final String type = HashedRelation.class.getName();
    String name = context.addMutableState(
        type, "byNumber",
        new AbstractFunction1() {
          public Object apply(Object state) {
            return state + " = (" + type + ") " + made + ".apply(inputs[1]);";
          }
        },
        true, true);
    return new HashedRelationInfo(name, false, false);
  }

  private static SQLMetric metric(ShuffledHashJoinExec join, String name) {
    return (SQLMetric) join.metrics().apply(name);
  }
}
