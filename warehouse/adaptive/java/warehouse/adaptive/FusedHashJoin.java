package warehouse.adaptive;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.optimizer.BuildSide;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.execution.CodegenSupport;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.joins.HashedRelationInfo;
import org.apache.spark.sql.execution.joins.ShuffledHashJoinExec;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * Spark's join by hashing, whose larger side is read, filtered and looked up in one piece of generated code, as in a
 * broadcast join. Spark generates two, and writes a row in memory of all that the first one reads for the second. The
 * side that is hashed, and a plan without generated code, are Spark's.
 */
public final class FusedHashJoin extends ShuffledHashJoinExec {
  private final ShuffledHashJoinExec own;

  /** While code is generated. */
  private KeyFilter filter;

  /** As Spark's nodes are made anew: by what they are made of. */
  public FusedHashJoin(
      Seq leftKeys, Seq rightKeys, JoinType joinType, BuildSide buildSide, Option condition, SparkPlan left,
      SparkPlan right, boolean isSkewJoin) {
    super(leftKeys, rightKeys, joinType, buildSide, condition, left, right, isSkewJoin);
    own = new ShuffledHashJoinExec(leftKeys, rightKeys, joinType, buildSide, condition, left, right, isSkewJoin);
  }

  static SparkPlan of(ShuffledHashJoinExec join) {
    FusedHashJoin made = new FusedHashJoin(
        join.leftKeys(), join.rightKeys(), join.joinType(), join.buildSide(), join.condition(), join.left(),
        join.right(), join.isSkewJoin());
    made.copyTagsFrom(join);
    return made;
  }

  public ShuffledHashJoinExec withNewChildrenInternal(SparkPlan left, SparkPlan right) {
    return new FusedHashJoin(
        leftKeys(), rightKeys(), joinType(), buildSide(), condition(), left, right, isSkewJoin());
  }

  public String nodeName() {
    return own.nodeName();
  }

  public Map metrics() {
    return own.metrics();
  }

  public RDD doExecute() {
    return own.doExecute();
  }

  public HashedRelationInfo prepareRelation(CodegenContext context) {
    if (ByNumber.suits(own)) {
      return ByNumber.relation(context, own);
    }
    HashedRelationInfo relation = own.prepareRelation(context);
    filter = KeyFilter.pays(buildPlan(), buildBoundKeys())
        ? new KeyFilter(context, relation.relationTerm(), buildBoundKeys()) : null;
    return relation;
  }

  public Tuple2 genStreamSideJoinKey(CodegenContext context, Seq row) {
    if (filter == null) {
      return super.genStreamSideJoinKey(context, row);
    }
    ExprCode hash = filter.hash(streamedBoundKeys(), row);
    return filter.guarded(hash, super.genStreamSideJoinKey(context, row));
  }

  public String doProduce(CodegenContext context) {
    CodegenSupport rows = pipeline();
    return rows == null ? super.doProduce(context) : rows.produce(context, this);
  }

  public Seq inputRDDs() {
    CodegenSupport rows = pipeline();
    return rows == null ? super.inputRDDs()
        : Wrapper.seq(new Object[] {rows.inputRDDs().head(), buildPlan().execute()});
  }

  /** The operators that give the rows to look up, where Spark has made generated code of their own of them, or null. */
  private CodegenSupport pipeline() {
    SparkPlan rows = streamedPlan() instanceof InputAdapter ? ((InputAdapter) streamedPlan()).child() : null;
    return rows instanceof WholeStageCodegenExec ? (CodegenSupport) ((WholeStageCodegenExec) rows).child() : null;
  }

  /** What travels to executors, inside of operators that know their plan, is Spark's own. */
  protected Object writeReplace() {
    return own;
  }

  /** Spark keeps a node in place of another one that is equal. */
  public boolean canEqual(Object other) {
    return other instanceof FusedHashJoin;
  }

  public boolean equals(Object other) {
    return canEqual(other) && super.equals(other);
  }

  public int hashCode() {
    return super.hashCode();
  }
}
