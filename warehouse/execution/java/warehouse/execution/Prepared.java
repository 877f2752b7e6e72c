package warehouse.execution;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.rdd.EmptyRDD;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.QueryExecution$;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.ReusedSubqueryExec;
import org.apache.spark.sql.execution.ScalarSubquery;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SubqueryExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractPartialFunction;

/**
 * The physical plan of a text over relations whose rows are held: made once, and filled with their rows each time.
 *
 * <p>Optimizing and planning is most of what a text costs over few rows. Here neither sees what the relations hold.
 */
final class Prepared {
  private static final ClassTag ROWS = ClassTag$.MODULE$.apply(InternalRow.class);

  private final SparkPlan plan;
  private final Map names;

  private Prepared(SparkPlan plan, Map names) {
    this.plan = plan;
    this.names = names;
  }

  /**
   * Prepare a plan; null where a subquery of it would have to be run.
   *
   * @param kept the analysed plan
   * @param relations plans by name
   */
  static Prepared of(final SparkSession session, KeptPlan kept, Map relations) {
    Map names = new HashMap();
    Map places = new HashMap();
    for (Iterator each = kept.names().iterator(); each.hasNext();) {
      Object name = each.next();
      RDD nothing = new EmptyRDD(session.sparkContext(), ROWS);
      names.put(Integer.valueOf(nothing.id()), name);
      places.put(name, new LogicalRDD(
          ((LogicalPlan) relations.get(name)).output(), nothing, new UnknownPartitioning(0), Nil$.MODULE$, false,
          Option.empty(), session, Option.empty(), Option.empty()));
    }
    final LogicalPlan whole = kept.over(places, null);
    SparkPlan plan = (SparkPlan) session.withActive(new AbstractFunction0() {
      public Object apply() {
        SparkPlan planned = Dataset.ofRows(session, whole).queryExecution().sparkPlan();
        return QueryExecution$.MODULE$.prepareForExecution( // not as an adaptive plan, which is run just once
            QueryExecution$.MODULE$.preparations(session, Option.empty(), false), planned);
      }
    });
    Prepared prepared = new Prepared(plan, names);
    return prepared.over(session, relations).subqueriesAll().isEmpty() ? prepared : null;
  }

  /** The plan over what relations hold now, to be run once. */
  SparkPlan over(SparkSession session, final Map relations) {
    return (SparkPlan) session.withActive(new AbstractFunction0() {
      public Object apply() {
        return filled(plan, relations, new IdentityHashMap());
      }
    });
  }

  /**
   * What becomes of a node: one that stands for a relation reads its rows, and subqueries of one value are that.
   *
   * @param exchanges what became of those that were met; where one is used again, that is what it became
   */
  private SparkPlan filled(SparkPlan node, final Map relations, Map exchanges) {
    if (exchanges.containsKey(node)) {
      return (SparkPlan) exchanges.get(node);
    }
    SparkPlan made;
    if (node instanceof RDDScanExec) {
      made = scan((RDDScanExec) node, relations);
    } else if (node instanceof ReusedExchangeExec) {
      ReusedExchangeExec again = (ReusedExchangeExec) node;
      made = again.copy(again.output(), (Exchange) filled(again.child(), relations, exchanges));
    } else {
      List children = new ArrayList();
      for (Iterator each = CollectionConverters.asJava(node.children()).iterator(); each.hasNext();) {
        children.add(filled((SparkPlan) each.next(), relations, exchanges));
      }
      made = (SparkPlan) node.withNewChildren(CollectionConverters.asScala(children).toSeq());
      made = (SparkPlan) made.transformExpressions(values(relations));
    }
    if (node instanceof Exchange) {
      exchanges.put(node, made);
    }
    return made;
  }

  private AbstractPartialFunction values(final Map relations) {
    return new AbstractPartialFunction() {
      @Override
      public boolean isDefinedAt(Object expression) {
        return expression instanceof ScalarSubquery;
      }

      @Override
      public Object applyOrElse(Object expression, Function1 otherwise) {
        Literal value = isDefinedAt(expression) ? valueOf((ScalarSubquery) expression, relations) : null;
        return value == null ? otherwise.apply(expression) : value;
      }
    };
  }

  private RDDScanExec scan(RDDScanExec place, Map relations) {
    LocalRelation held = (LocalRelation) relations.get(names.get(Integer.valueOf(place.rdd().id())));
    RDD rows = place.rdd().context().parallelize(held.data(), 1, ROWS);
    return place.copy(
        place.output(), rows, place.name(), place.outputPartitioning(), place.outputOrdering(), place.stream());
  }

  /** The value of a subquery that is nothing but a relation of one row and column; null of any other. */
  private Literal valueOf(ScalarSubquery subquery, Map relations) {
    SparkPlan read = subquery.plan();
    while (!(read instanceof RDDScanExec)) {
      if (read instanceof ReusedSubqueryExec) {
        read = ((ReusedSubqueryExec) read).child();
      } else if (read instanceof SubqueryExec || read instanceof ProjectExec) {
        read = (SparkPlan) read.children().head();
      } else {
        return null;
      }
    }
    LocalRelation held = (LocalRelation) relations.get(names.get(Integer.valueOf(((RDDScanExec) read).rdd().id())));
    boolean isOne = held.output().size() == 1 && held.data().size() == 1;
    if (!isOne || !subquery.dataType().sameType(held.schema().apply(0).dataType())) {
      return null;
    }
    return new Literal(((InternalRow) held.data().head()).get(0, subquery.dataType()), subquery.dataType());
  }
}
