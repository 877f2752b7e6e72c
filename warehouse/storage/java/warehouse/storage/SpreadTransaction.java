package warehouse.storage;

import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.optimizer.CollapseProject$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.DeltaConfigs$;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.NoMapping$;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.actions.Metadata;
import org.apache.spark.sql.delta.files.DelayedCommitProtocol;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DatetimeType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.Tuple4;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;
import scala.runtime.AbstractFunction1;
import warehouse.storage.tasks.Spreading;

/**
 * A transaction that writes a distributed table without a shuffle. Where rows come straight from files, each task has
 * a file open for each partition and writes a row into the one that its keys hash to, as Hive and Spark write buckets:
 * the shuffle costs more than reading the rows does. What is paid is a file of each task in each partition, so this is
 * done by one task for few rows, and by several where files are of some size still. For Delta the number of the partition is a column that files lie in
 * folders by; {@link Spreading} makes it the number in the file's name.
 */
final class SpreadTransaction extends RememberingTransaction {
  /** A setting of a session; it is on unless it says false. */
  private static final String SETTING = "warehouse.spreading";

  private static final String NUMBER = "__w_partition";
  private static final String WRITERS = "spark.sql.maxConcurrentOutputFileWriters";

  /** Bytes: what a file has at least on average, and what a column of an open file takes in memory at most. */
  private static final long SMALL = 4L << 20;
  private static final long COLUMN = 2L << 20;

  /** Bytes: the dictionaries of a column in all files of a task together, and that of one at least. */
  private static final int DICTIONARIES = 1 << 20;
  private static final int DICTIONARY = 1 << 16;

  private static final AbstractFunction1 TIMES = new AbstractFunction1() {
    public Object apply(Object type) {
      return Boolean.valueOf(type instanceof DatetimeType);
    }
  };

  private final List keys;
  private final int partitions;
  private final List names;
  private Attribute number;

  /** The same as `begun`, of a table distributed by `keys`; `names` gets those of the files whose rows are surely in place. */
  SpreadTransaction(OptimisticTransaction begun, boolean remembers, List keys, int partitions, List names) {
    super(begun, remembers);
    this.keys = keys;
    this.partitions = partitions;
    this.names = names;
  }

  public Seq writeFiles(Dataset data, Option options, boolean optimizes, Seq constraints) {
    if (optimizes) { // in several threads at once
      return super.writeFiles(data, options, optimizes, constraints);
    }
    SQLConf settings = ((SparkSession) data.sparkSession()).sessionState().conf();
    String before = settings.getConfString(WRITERS, null);
    try {
      Seq written = super.writeFiles(data, options, optimizes, constraints);
      Iterator files = number == null || changesKeys() ? Nil$.MODULE$.iterator() : written.iterator();
      while (files.hasNext()) {
        names.add(new Path(((AddFile) files.next()).path()).getName());
      }
      return written;
    } finally {
      number = null;
      if (before == null) {
        settings.unsetConf(WRITERS);
      } else {
        settings.setConfString(WRITERS, before);
      }
    }
  }

  public Tuple4 normalizeData(DeltaLog log, Option options, Dataset data) {
    Tuple4 normal = super.normalizeData(log, options, data);
    QueryExecution shuffled = (QueryExecution) normal._1();
    SparkSession session = (SparkSession) data.sparkSession();
    HashPartitioning by = by(shuffled.analyzed().output());
    LogicalPlan rows = by == null ? null : unshuffled(shuffled.analyzed(), by);
    if (rows == null || !Layouts.on(session, SETTING) || isOtherwiseNamed() || exchanges(planned(shuffled)) != 1) {
      return normal;
    }
    Alias alias = new Alias(
        by.partitionIdExpression(), NUMBER, NamedExpression$.MODULE$.newExprId(), Nil$.MODULE$, Option.empty(),
        Nil$.MODULE$);
    QueryExecution spread = session.sessionState().executePlan(
        new Project(and(rows.output(), alias), rows), CommandExecutionMode$.MODULE$.ALL());
    if (!pays(spread, session)) {
      return normal;
    }
    number = alias.toAttribute();
    // one more than there are, or Spark sorts the rows once that many are open
    session.sessionState().conf().setConfString(WRITERS, String.valueOf(partitions + 1));
    return new Tuple4(Spread.of(spread, by), and((Seq) normal._2(), number), normal._3(), normal._4());
  }

  /** By the keys as they are written; null where a column has another name or type than the table's. */
  private HashPartitioning by(Seq columns) {
    StructType table = metadata().schema();
    ListBuffer found = new ListBuffer();
    for (int i = 0; i < keys.size(); i++) {
      for (int j = 0; j < columns.size(); j++) {
        Attribute column = (Attribute) columns.apply(j);
        boolean named = column.name().equalsIgnoreCase((String) keys.get(i)) && table.getFieldIndex(column.name()).isDefined();
        if (named && table.apply(column.name()).dataType().equals(column.dataType())) {
          found.addOne(column);
        }
      }
    }
    return found.size() == keys.size() ? new HashPartitioning(found.toList(), partitions) : null;
  }

  /**
   * Whether a key may be read as another value than its row was spread by: '' of a folder is NULL, and files have times
   * and days in the unit and by the calendar of a setting.
   */
  private boolean changesKeys() {
    StructField[] columns = metadata().schema().fields();
    boolean changes = false;
    for (int i = 0; i < columns.length; i++) {
      boolean may = metadata().partitionColumns().contains(columns[i].name())
          || columns[i].dataType().existsRecursively(TIMES);
      changes |= may && isKey(columns[i].name());
    }
    return changes;
  }

  private boolean isKey(String column) {
    boolean found = false;
    for (int i = 0; i < keys.size(); i++) {
      found |= column.equalsIgnoreCase((String) keys.get(i));
    }
    return found;
  }

  /** Whether files lie in folders of random names, or there may be such as tell of changes. */
  private boolean isOtherwiseNamed() {
    return metadata().columnMappingMode() != NoMapping$.MODULE$
        || ((Boolean) DeltaConfigs$.MODULE$.RANDOMIZE_FILE_PREFIXES().fromMetaData(metadata())).booleanValue()
        || ((Boolean) DeltaConfigs$.MODULE$.CHANGE_DATA_FEED().fromMetaData(metadata())).booleanValue();
  }

  /**
   * The rows of a query whose last shuffle is that for its table, after which columns are chosen or rows sorted at most,
   * without it; or null. A shuffle by anything else is there for a reason, as where Delta clusters.
   */
  private static LogicalPlan unshuffled(LogicalPlan plan, Expression by) {
    if (plan instanceof RepartitionByExpression) {
      Partitioning made = ((RepartitionByExpression) plan).partitioning();
      boolean same = made instanceof HashPartitioning && ((HashPartitioning) made).semanticEquals(by);
      return same ? ((RepartitionByExpression) plan).child() : null;
    }
    if (!(plan instanceof Project || plan instanceof Sort && !((Sort) plan).global())) {
      return null;
    }
    Expression before = plan instanceof Project
        ? CollapseProject$.MODULE$.replaceAlias(by, CollapseProject$.MODULE$.getAliasMap((Project) plan)) : by;
    LogicalPlan below = unshuffled((LogicalPlan) plan.children().head(), before);
    return below == null ? null : (LogicalPlan) plan.withNewChildren((Seq) new ListBuffer().addOne(below).toList());
  }

  private static Seq and(Seq columns, Object last) {
    return (Seq) columns.appended(last);
  }

  private static SparkPlan planned(QueryExecution query) {
    SparkPlan plan = query.executedPlan();
    return plan instanceof AdaptiveSparkPlanExec ? ((AdaptiveSparkPlanExec) plan).initialPlan() : plan;
  }

  private static int exchanges(SparkPlan plan) {
    int found = plan instanceof Exchange ? 1 : 0;
    for (int i = 0; i < plan.children().size(); i++) {
      found += exchanges((SparkPlan) plan.children().apply(i));
    }
    return found;
  }

  /** Whether there are tasks for all cores, but not so many that files are small, and memory for open files. */
  private boolean pays(QueryExecution spread, SparkSession session) {
    long bytes = spread.optimizedPlan().stats().sizeInBytes().toLong();
    long columns = spread.analyzed().output().size();
    int cores = session.sparkContext().defaultParallelism();
    if (columns * partitions * cores * COLUMN > Runtime.getRuntime().maxMemory() / 2) {
      return false;
    }
    int tasks = spread.executedPlan().execute().getNumPartitions();
    long bytesInFile = bytes / Math.max(tasks, 1) / partitions;
    return tasks <= 1 ? bytesInFile < SMALL : tasks >= Math.min(cores, partitions) && bytesInFile >= SMALL;
  }

  public Seq getPartitioningColumns(StructType folders, Seq output) {
    Seq columns = super.getPartitioningColumns(folders, output);
    return number == null ? columns : and(columns, number);
  }

  public Tuple2 getStatsSchema(Seq output, StructType folders) {
    return super.getStatsSchema(number == null ? output : (Seq) output.init(), folders);
  }

  public DelayedCommitProtocol getCommitter(Path folder) {
    return number == null ? super.getCommitter(folder) : new Spreading(folder.toString(), deltaDataSubdir());
  }

  /**
   * While rows are written so, what Delta and Parquet's writer are told besides: the number is no column of the files,
   * and their dictionaries are small, or looking values up in that of one file after the other costs more than the
   * shuffle would.
   */
  public Metadata metadata() {
    Metadata table = super.metadata();
    if (number == null) {
      return table;
    }
    int dictionary = Math.max(DICTIONARIES / partitions, DICTIONARY);
    Map told = (Map) ((Map) table.configuration().updated("delta.writePartitionColumnsToParquet", "false")).updated(
        "parquet.dictionary.page.size", String.valueOf(dictionary));
    return table.copy(
        table.id(), table.name(), table.description(), table.format(), table.schemaString(), table.partitionColumns(),
        told, table.createdTime());
  }
}
