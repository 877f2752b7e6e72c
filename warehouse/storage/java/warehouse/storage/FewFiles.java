package warehouse.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionSet;
import org.apache.spark.sql.catalyst.expressions.ExpressionSet$;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Subquery;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.files.TahoeLogFileIndex;
import org.apache.spark.sql.delta.stats.DataSize;
import org.apache.spark.sql.delta.stats.DeltaDataSkippingType;
import org.apache.spark.sql.delta.stats.DeltaScan;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/**
 * Lists the files of tables that have few of them. Delta starts a Spark job for each scan of each query to learn which
 * files it reads; here they are {@link Listed} once for a version, and what a query wants of them is decided by
 * {@link Pruning} alone, so that the sizes that joins are planned by are those of the files that are left, and of their
 * likely {@link Share}.
 */
public final class FewFiles extends Rule {
  private static final Seq NONE = new ListBuffer().toList();
  private static final long ALL = Long.MAX_VALUE;

  private final SparkSession session;

  /** By tables, those that one query reads; each has a rule of its own. */
  private final Map versions = new HashMap();

  private final Subqueries subqueries = new Subqueries() {
    LogicalPlan become(LogicalPlan plan) {
      return listed(plan);
    }
  };

  FewFiles(SparkSession session) {
    this.session = session;
  }

  public TreeNode apply(TreeNode plan) {
    boolean ours = Layouts.on(session, Layouts.PRUNING)
        && !(plan instanceof Subquery)  // which its query's plan holds as well
        && !OptimisticTransaction.getActive().isDefined();  // it has to learn what is read
    return ours ? new FewFiles(session).listed((LogicalPlan) plan) : plan;
  }

  /** All of a query reads the same version of a table, whoever writes to it meanwhile. */
  private Snapshot snapshot(TahoeLogFileIndex index) {
    Object table = index.deltaLog().compositeId();
    if (index.isTimeTravelQuery()) {
      return index.getSnapshot();
    }
    if (!versions.containsKey(table)) {
      versions.put(table, index.getSnapshot());
    }
    return (Snapshot) versions.get(table);
  }

  private LogicalPlan listed(LogicalPlan above) {
    LogicalPlan plan = subqueries.within(above);
    if (plan instanceof Aggregate && bare(plan) != null) {
      return aggregated((Aggregate) plan, bare(plan));
    }
    if (plan instanceof LocalLimit && ((LocalLimit) plan).limitExpr() instanceof Literal) {
      long rows = ((Number) ((Literal) ((LocalLimit) plan).limitExpr()).value()).longValue();
      LogicalPlan below = belowProjects(plan);
      Sort sort = below instanceof Sort ? (Sort) below : null;
      LogicalRelation table = sort == null ? table(below) : bare(sort);
      if (table != null) {
        return Scans.replaced(plan, table, listed(table, NONE, rows, sort));
      }
    }
    if (table(plan) != null) {
      return listed(table(plan), NONE);
    }
    if (plan instanceof Filter && table(((Filter) plan).child()) != null) {
      ListBuffer conditions = new ListBuffer();
      split(((Filter) plan).condition(), conditions);
      LogicalPlan known = listed(table(((Filter) plan).child()), conditions.toList());
      return ((Filter) plan).copy(((Filter) plan).condition(), known);
    }
    ListBuffer children = new ListBuffer();
    for (int i = 0; i < plan.children().size(); i++) {
      children.addOne(listed((LogicalPlan) plan.children().apply(i)));
    }
    return (LogicalPlan) plan.withNewChildren(children.toList());
  }

  /** What asks for no more than the log says is answered by it. */
  private LogicalPlan aggregated(Aggregate plan, LogicalRelation table) {
    Snapshot snapshot = snapshot(index(table));
    if (!Listed.few(snapshot)) {
      return plan;
    }
    LogicalPlan answer = FromTheLog.answer(plan, table, Listed.files(snapshot), new Names(snapshot.schema()));
    return answer != null ? answer : Scans.replaced(plan, table, listed(table, NONE));
  }

  /** The table of a plan that reads all of it. */
  private static LogicalRelation bare(LogicalPlan plan) {
    return table(belowProjects(plan));
  }

  private static LogicalPlan belowProjects(LogicalPlan plan) {
    LogicalPlan below = (LogicalPlan) plan.children().head();
    while (below instanceof Project) {
      below = ((Project) below).child();
    }
    return below;
  }

  private static TahoeLogFileIndex index(LogicalRelation table) {
    return (TahoeLogFileIndex) ((HadoopFsRelation) table.relation()).location();
  }

  private static LogicalRelation table(LogicalPlan plan) {
    if (!(plan instanceof LogicalRelation) || plan.isStreaming()
        || !(((LogicalRelation) plan).relation() instanceof HadoopFsRelation)) {
      return null;
    }
    HadoopFsRelation files = (HadoopFsRelation) ((LogicalRelation) plan).relation();
    boolean plain = files.location() instanceof TahoeLogFileIndex && files.partitionSchema().isEmpty()
        && ((TahoeLogFileIndex) files.location()).partitionFilters().isEmpty();
    return plain ? (LogicalRelation) plan : null;
  }

  /** Add the parts of a condition that hold for each row that is left, and say the same for the same row. */
  static void split(Expression condition, ListBuffer conditions) {
    if (condition instanceof And) {
      split(((And) condition).left(), conditions);
      split(((And) condition).right(), conditions);
    } else if (condition.deterministic() && !SubqueryExpression$.MODULE$.hasSubquery(condition)) {
      conditions.addOne(condition);
    }
  }

  /** A table's files that a query reads. */
  private LogicalPlan listed(LogicalRelation table, Seq conditions) {
    return listed(table, conditions, ALL, null);
  }

  /** A table's files that a query reads, of which as many rows suffice; where it sorts them, the first ones. */
  private LogicalPlan listed(LogicalRelation table, Seq conditions, long rows, Sort sort) {
    HadoopFsRelation files = (HadoopFsRelation) table.relation();
    TahoeLogFileIndex index = index(table);
    Snapshot snapshot = snapshot(index);
    if (!Listed.few(snapshot)) {
      return table;
    }
    AddFile[] all = Listed.files(snapshot);
    Names names = new Names(snapshot.schema());
    List kept = new ArrayList();
    double share = choose(first(all, rows, sort, table, names), kept, index.path(), conditions, names);
    long bytes = (long) (bytes((AddFile[]) kept.toArray(new AddFile[0])) * Share.atLeast(share));
    DataSize total = size(all.length, bytes(all));
    ExpressionSet none = ExpressionSet$.MODULE$.apply();
    DeltaScan scan = new DeltaScan(
        snapshot.version(), scala.jdk.javaapi.CollectionConverters.asScala(kept).toList(), total, total,
        size(kept.size(), bytes), snapshot, none, ExpressionSet$.MODULE$.apply(conditions), none,
        (scala.collection.immutable.Set) scala.collection.immutable.Set$.MODULE$.empty(), none, 0L,
        DeltaDataSkippingType.noSkippingV1());
    PreparedDeltaFileIndex prepared = new PreparedDeltaFileIndex(
        session, index.deltaLog(), index.path(), index.catalogTableOpt(), scan, index.versionToUse());
    scala.collection.immutable.Map options = (scala.collection.immutable.Map) files.options().updated(
        Share.LIKELY, String.valueOf(Share.ofThat(share)));
    HadoopFsRelation known = files.copy(
        prepared, files.partitionSchema(), files.dataSchema(), files.bucketSpec(), files.fileFormat(), options,
        files.sparkSession());
    return table.copy(known, table.output(), table.catalogTable(), table.isStreaming(), table.stream());
  }

  /** The files that have the first so many rows, as they are sorted, or any where they are not. */
  private static AddFile[] first(AddFile[] files, long rows, Sort sort, LogicalRelation table, Names names) {
    if (sort != null) {
      Topmost topmost = Topmost.by(sort, table.outputSet(), names);
      return topmost == null ? files : topmost.files(files, rows);
    }
    long found = 0;
    for (int i = 0; i < files.length; i++) {
      if (found >= rows) {
        return (AddFile[]) Arrays.copyOf(files, i);
      }
      Option own = files[i].numLogicalRecords();
      found += own.isDefined() ? ((Number) own.get()).longValue() : 0;
    }
    return files;
  }

  /** Add the files that a query reads to `kept`; return which share of them is likely what it wants. */
  private double choose(AddFile[] files, List kept, Path folder, Seq conditions, Names names) {
    if (conditions.isEmpty()) {
      kept.addAll(Arrays.asList(files));
      return 1;
    }
    Configuration configuration = ((org.apache.spark.sql.classic.SparkSession) session).sessionState().newHadoopConf();
    Pruning pruning = new Pruning(conditions, names, configuration);
    Share share = Layouts.on(session, WholeSums.SETTING) ? pruning.share() : Share.ALL;
    List known = new ArrayList();
    for (int i = 0; i < files.length; i++) {
      Facts facts = pruning.facts(new Path(folder, files[i].toPath()));
      if (pruning.keeps(facts)) {
        kept.add(files[i]);
        known.add(facts);
      }
    }
    return share.of(known);
  }

  private static long bytes(AddFile[] files) {
    long bytes = 0;
    for (int i = 0; i < files.length; i++) {
      bytes += files[i].size();
    }
    return bytes;
  }

  private static DataSize size(int files, long bytes) {
    return new DataSize(new Some(Long.valueOf(bytes)), Option.empty(), new Some(Long.valueOf(files)), Option.empty());
  }
}
