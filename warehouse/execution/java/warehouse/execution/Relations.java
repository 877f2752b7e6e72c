package warehouse.execution;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.CollectMetrics;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.CollectMetricsExec$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.command.ViewHelper$;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * Relations by name, and the frames of SQL texts over them.
 *
 * <p>A text is parsed and analysed when it is first seen. Then its plan is kept, and the next time what the relations
 * hold by then takes their places, if their columns are the same: analysis is up to half of what a small step of a
 * streaming table costs. Not kept is the plan of a text that reads other tables too, or calls a user's function, as
 * these can become others in between. No text may read what came of itself.
 *
 * <p>What few rows a text comes to can be held: then they are the relation. Where a text reads nothing but rows that are
 * held, the physical plan is kept, too, from the first time on.
 */
public final class Relations {
  /** The number that what is measured of a frame is registered under; the watch's name tells them apart. */
  private static final long WATCHED = 0;

  private static final String MEASURED = "measured";

  private static final Function1 NO_VIEW = new AbstractFunction1() {
    public Object apply(Object name) {
      return Option.empty();
    }
  };

  private final Plans plans;
  private final org.apache.spark.sql.classic.SparkSession session;
  private final Map byName = new HashMap();
  private String constant;

  Relations(Plans plans, org.apache.spark.sql.SparkSession session) {
    this.plans = plans;
    this.session = (org.apache.spark.sql.classic.SparkSession) session;
  }

  public void put(String name, org.apache.spark.sql.Dataset rows) {
    byName.put(name, ((Dataset) rows).queryExecution().analyzed());
  }

  /** A relation of one row and column, a struct of numbers; in the plans, a constant or a relation like others. */
  public void putRow(String name, String column, List fields, List values, boolean isConstant) {
    StructField[] kinds = new StructField[fields.size()];
    for (int i = 0; i < kinds.length; i++) {
      kinds[i] = DataTypes.createStructField((String) fields.get(i), DataTypes.LongType, false);
    }
    StructField[] only = {DataTypes.createStructField(column, DataTypes.createStructType(kinds), false)};
    Object[] numbers = new Object[kinds.length];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = Long.valueOf(((Number) values.get(i)).longValue());
    }
    List row = new ArrayList();
    row.add(RowFactory.create(new Object[] {RowFactory.create(numbers)}));
    byName.put(name, LocalRelation$.MODULE$.fromExternalRows(
        DataTypeUtils$.MODULE$.toAttributes(new StructType(only)), CollectionConverters.asScala(row).toSeq()));
    constant = isConstant ? name : null;
  }

  /** A relation of no rows, that what is held of others with these columns can take the place of. */
  public void putNothing(String name, String columns) {
    byName.put(name, Held.relation(StructType.fromDDL(columns).asNullable(), new ArrayList()));
  }

  /** The rows of a relation. */
  public org.apache.spark.sql.Dataset get(String name) {
    return Dataset.ofRows(session, (LogicalPlan) byName.get(name));
  }

  /** The frame of a text. */
  public org.apache.spark.sql.Dataset sql(String text) throws ParseException {
    return measured(text, null, "");
  }

  /** The frame of a text, of which aggregates are taken when it is first used; see `Frames`. */
  public org.apache.spark.sql.Dataset measured(String text, Observation watch, String measures) throws ParseException {
    LogicalPlan plan = plan(text, measures);
    return Dataset.ofRows(session, watch == null ? plan : watched(plan, watch));
  }

  /**
   * Let a name stand for what a text comes to now, held in this process: no task makes it again for who reads it.
   *
   * @return aggregates of its rows as JSON; null, and no relation, where they are more than so many
   */
  public String hold(String name, String text, String measures, int most) throws ParseException {
    KeptPlan kept = kept(text, measures);
    Prepared prepared = kept == null ? null : kept.prepared(session, byName);
    LocalRelation held;
    SparkPlan run;
    if (prepared == null) {
      QueryExecution execution = Dataset.ofRows(session, plan(text, measures)).queryExecution();
      held = Held.of(execution, most);
      run = execution.executedPlan();
    } else {
      run = prepared.over(session, byName);
      held = Held.of(session, run, most);
    }
    if (held == null) {
      return null;
    }
    byName.put(name, held);
    Option told = CollectMetricsExec$.MODULE$.collect(run).get(MEASURED);
    return told.isDefined() // the optimizer leaves the measuring out where it sees that there are no rows
        ? ((Row) told.get()).json() : figures("SELECT " + measures.replace('\0', ',') + " FROM " + name);
  }

  /** The analysed plan of a text, with its measures if there are any, over what the relations hold. */
  private LogicalPlan plan(String text, String measures) throws ParseException {
    KeptPlan kept = kept(text, measures);
    return kept == null ? analysed(parsed(text, measures), key(text, measures)) : kept.over(byName, constant);
  }

  /** The plan that is kept of a text, analysed now where none is that fits the relations; null where none can be. */
  private KeptPlan kept(String text, String measures) throws ParseException {
    String key = key(text, measures);
    KeptPlan kept = plans.get(key);
    if (kept == null ? plans.knows(key) : kept.fits(byName)) {
      return kept;
    }
    LogicalPlan parsed = parsed(text, measures);
    kept = Builtins.only(parsed) ? KeptPlan.of(analysed(parsed, key), byName) : null;
    plans.put(key, kept);
    return kept;
  }

  private static String key(String text, String measures) {
    return measures.isEmpty() ? text : text + "\0" + measures;
  }

  /** The plan with `watch` as what takes the measures on top of it. */
  private LogicalPlan watched(LogicalPlan plan, Observation watch) {
    CollectMetrics top = (CollectMetrics) plan;
    session.observationManager().register(watch, WATCHED);
    LogicalPlan watched = top.copy(watch.name(), top.metrics(), top.child(), WATCHED);
    watched.setAnalyzed();
    return watched;
  }

  /** The one row of a text as JSON. */
  public String figures(String text) throws ParseException {
    return ((Row[]) sql(text).collect())[0].json();
  }

  /** A text with the measures on top, if there are any. */
  private LogicalPlan parsed(String text, String measures) throws ParseException {
    ParserInterface parser = session.sessionState().sqlParser();
    LogicalPlan plan = parser.parsePlan(text);
    if (measures.isEmpty()) {
      return plan;
    }
    List each = new ArrayList();
    for (String measure : measures.split("\0")) {
      each.add(parser.parseExpression(measure));
    }
    return new CollectMetrics(MEASURED, CollectionConverters.asScala(each).toSeq(), plan, WATCHED);
  }

  /** What Spark's `createOrReplaceTempView` makes of a relation, without a command that is planned and run for it. */
  private TemporaryViewRelation view(String name) {
    LogicalPlan plan = (LogicalPlan) byName.get(name);
    return ViewHelper$.MODULE$.createTemporaryViewRelation(
        new TableIdentifier(name), session, true, NO_VIEW, Option.empty(), plan, plan, Nil$.MODULE$, Option.empty());
  }

  /** The plan of what was parsed, as Spark makes it: over views of the relations named, there for the while. */
  private LogicalPlan analysed(LogicalPlan parsed, String named) {
    List made = new ArrayList();
    for (Iterator names = byName.keySet().iterator(); names.hasNext();) {
      String name = (String) names.next();
      if (named.contains(name)) {
        session.sessionState().catalog().createTempView(name, view(name), true);
        made.add(name);
      }
    }
    try {
      return Dataset.ofRows(session, parsed).queryExecution().analyzed();
    } finally {
      for (Iterator names = made.iterator(); names.hasNext();) {
        session.sessionState().catalog().dropTempView((String) names.next()); // not what is stored of it, as others do
      }
    }
  }
}
