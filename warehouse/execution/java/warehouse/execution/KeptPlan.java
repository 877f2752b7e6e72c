package warehouse.execution;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The analysed plan of a text over named relations, without what these held: that is put in anew each time, and nothing
 * but the optimizer sees it then.
 */
final class KeptPlan {
  private final LogicalPlan plan;
  private final Map kinds;

  private Prepared prepared;
  private boolean wasPrepared;

  private KeptPlan(LogicalPlan plan, Map kinds) {
    this.plan = plan;
    this.kinds = kinds;
  }

  /**
   * The plan to keep, null where it reads anything but relations of these names.
   *
   * @param plan analysed
   * @param relations plans by name
   */
  static KeptPlan of(LogicalPlan plan, final Map relations) {
    final Map kinds = new HashMap();
    LogicalPlan bare = new Places() {
      @Override
      LogicalPlan under(View view) {
        String name = view.desc().identifier().table();
        if (!view.isTempView() || !relations.containsKey(name)) {
          return null;
        }
        kinds.put(name, ((LogicalPlan) relations.get(name)).schema());
        return LocalRelation$.MODULE$.apply(view.output());
      }
    }.of(plan);
    return readsNothingElse(bare) ? new KeptPlan(bare, kinds) : null;
  }

  /** Of the relations that the text reads. */
  Set names() {
    return kinds.keySet();
  }

  /** The physical plan, made once, over relations that fit; null where their rows are not all held, or it has none. */
  Prepared prepared(SparkSession session, Map relations) {
    for (Iterator each = names().iterator(); each.hasNext();) {
      if (!(relations.get(each.next()) instanceof LocalRelation)) {
        return null;
      }
    }
    if (!wasPrepared) {
      wasPrepared = true;
      prepared = Prepared.of(session, this, relations);
    }
    return prepared;
  }

  /** Whether relations have the columns, by name, type and nullability, that the plan was analysed for. */
  boolean fits(Map relations) {
    for (Iterator names = kinds.keySet().iterator(); names.hasNext();) {
      Object name = names.next();
      LogicalPlan relation = (LogicalPlan) relations.get(name);
      if (relation == null || !((StructType) kinds.get(name)).equals(relation.schema())) {
        return false;
      }
    }
    return true;
  }

  /**
   * The plan over relations.
   *
   * @param relations plans by name, which it fits
   * @param constant the name of one with a single row and column, of which subqueries become that value; or null
   */
  LogicalPlan over(final Map relations, final String constant) {
    LogicalPlan whole = new Places() {
      @Override
      LogicalPlan under(View view) {
        LogicalPlan relation = (LogicalPlan) relations.get(view.desc().identifier().table());
        return relation == null ? null : named(relation, view.output());
      }

      @Override
      Expression ofSubquery(SubqueryExpression subquery) {
        Expression value = constant == null ? null : valueOf(subquery, constant, relations);
        return value == null ? super.ofSubquery(subquery) : value;
      }
    }.of(plan);
    whole.setAnalyzed();
    return whole;
  }

  private static boolean readsNothingElse(LogicalPlan plan) {
    if (plan.children().isEmpty()) {
      return plan instanceof LocalRelation || plan instanceof OneRowRelation;
    }
    for (Iterator inside = inside(plan); inside.hasNext();) {
      if (!readsNothingElse((LogicalPlan) inside.next())) {
        return false;
      }
    }
    return true;
  }

  /** The plans under a node and in its subqueries. */
  private static Iterator inside(LogicalPlan plan) {
    List all = new ArrayList(CollectionConverters.asJava(plan.children()));
    all.addAll(CollectionConverters.asJava(plan.subqueries()));
    return all.iterator();
  }

  /** A relation under the identities that a plan knows its columns by. */
  private static LogicalPlan named(LogicalPlan relation, Seq known) {
    List wanted = CollectionConverters.asJava(known);
    List found = CollectionConverters.asJava(relation.output());
    List renamed = new ArrayList();
    boolean differs = false;
    for (int i = 0; i < wanted.size(); i++) {
      Attribute before = (Attribute) wanted.get(i);
      Attribute now = (Attribute) found.get(i);
      boolean same = before.exprId().equals(now.exprId());
      renamed.add(same ? now : new Alias(now, now.name(), before.exprId(), before.qualifier(), Option.empty(), none()));
      differs |= !same;
    }
    return differs ? new Project(CollectionConverters.asScala(renamed).toSeq(), relation) : relation;
  }

  /** The value of a subquery that is nothing but the one column of a relation of one row; null where it is more. */
  private static Expression valueOf(SubqueryExpression subquery, String name, Map relations) {
    LogicalPlan read = (LogicalPlan) subquery.plan();
    if (!(subquery instanceof ScalarSubquery) || !(read instanceof Project)) {
      return null;
    }
    LogicalPlan below = ((Project) read).child();
    while (below instanceof SubqueryAlias) {
      below = ((SubqueryAlias) below).child();
    }
    if (!(below instanceof View) || !name.equals(((View) below).desc().identifier().table())) {
      return null;
    }
    InternalRow row = (InternalRow) ((LocalRelation) relations.get(name)).data().head();
    DataType type = ((LogicalPlan) relations.get(name)).schema().apply(0).dataType();
    return new Literal(row.get(0, type), type);
  }

  private static Seq none() {
    return CollectionConverters.asScala(new ArrayList()).toSeq();
  }
}
