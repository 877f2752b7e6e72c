package warehouse.storage;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.rdd.PartitionPruningRDD$;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.InputAdapter;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.WholeStageCodegenExec;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy$;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.collection.BitSet;
import scala.Function2;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.collection.immutable.Set;
import scala.collection.immutable.Set$;
import scala.collection.mutable.ListBuffer;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import warehouse.storage.tasks.Packed;
import warehouse.storage.tasks.Unpacking;

/**
 * Spark's scan of a table in memory. It leaves out the partitions without a row that the query wants, where Spark
 * starts a task for each of them, which looks at its batches: a partition was read from files, and what these say of
 * their rows is true of it. And it gives columns as vectors which are unpacked when a value is asked for
 * ({@link warehouse.storage.tasks.Packed}), where Spark makes a row of all of them, unless all columns of the table are
 * plain numbers. (Map pruning, and columns as arrays of primitive types: Shark; Zaharia, 3.3 and 3.4.3.)
 */
public class MemoryScan extends InMemoryTableScanExec {
  /** A setting of a session; it is on unless it says false. */
  private static final String UNPACKING = "warehouse.unpacking";

  private final boolean prunes;
  private final boolean unpacks;
  private transient Set chosen;

  private MemoryScan(InMemoryTableScanExec scan, boolean prunes, boolean unpacks) {
    super(scan.attributes(), scan.predicates(), scan.relation());
    this.prunes = prunes;
    this.unpacks = unpacks;
    copyTagsFrom(scan);
  }

  /**
   * The same scan as it is better done, or itself.
   *
   * @param free whether nobody needs all of its partitions.
   */
  static InMemoryTableScanExec of(InMemoryTableScanExec scan, boolean free) {
    boolean prunes = free && !scan.predicates().isEmpty() && files(scan.relation().cachedPlan()) != null;
    boolean unpacks = unpacks(scan);
    return prunes || unpacks ? new MemoryScan(scan, prunes, unpacks) : scan;
  }

  /** Spark's rules copy scans; a copy of this one is one of its kind. */
  public InMemoryTableScanExec copy(Seq attributes, Seq predicates, InMemoryRelation relation) {
    return new MemoryScan(new InMemoryTableScanExec(attributes, predicates, relation), prunes, unpacks);
  }

  /** A copy with other expressions, as Spark's nodes make it of what their constructors take. */
  public SparkPlan makeCopy(Object[] arguments) {
    SparkPlan made = copy((Seq) arguments[0], (Seq) arguments[1], (InMemoryRelation) arguments[2]);
    made.copyTagsFrom(this);
    return made;
  }

  /**
   * Whether columns can be given as vectors that unpack themselves, which tasks know. Spark has vectors for numbers alone,
   * and where it may choose, as it may there, it reads one row after the other.
   */
  private static boolean unpacks(InMemoryTableScanExec scan) {
    return Gathering.ready && Layouts.on(scan.session(), UNPACKING)
        && scan.conf().cacheVectorizedReaderEnabled() && !scan.attributes().isEmpty()
        && Packers.known(scan.relation().cacheBuilder().serializer()) && Packed.reads(scan.attributes());
  }

  /** In plans it bears the name of Spark's. */
  public String nodeName() {
    return new InMemoryTableScanExec(attributes(), predicates(), relation()).nodeName();
  }

  public boolean supportsColumnar() {
    return super.supportsColumnar() || unpacks;
  }

  public boolean supportsRowBased() {
    return !unpacks;
  }

  /** Generated code asks for no class of them by its name. */
  public Option vectorTypes() {
    return unpacks ? Option.empty() : super.vectorTypes();
  }

  /** Spark keeps a node in place of another one that is equal. */
  public boolean canEqual(Object other) {
    return other instanceof MemoryScan && ((MemoryScan) other).prunes == prunes && ((MemoryScan) other).unpacks == unpacks;
  }

  public boolean equals(Object other) {
    return canEqual(other) && super.equals(other);
  }

  public int hashCode() {
    return super.hashCode();
  }

  /** What travels to executors, inside of operators that know their plan, is Spark's own. */
  protected Object writeReplace() {
    return new InMemoryTableScanExec(attributes(), predicates(), relation());
  }

  public Partitioning outputPartitioning() {
    return prunes ? new UnknownPartitioning(partitions().size()) : super.outputPartitioning();
  }

  public String simpleString(int maxFields) {
    String told = super.simpleString(maxFields);
    return prunes ? told + ", partitions read: " + partitions().size() + " of " + all() : told;
  }

  public RDD doExecute() {
    return few(super.doExecute());
  }

  public RDD doExecuteColumnar() {
    return unpacks ? unpacked() : few(super.doExecuteColumnar());
  }

  private RDD unpacked() {
    RDD batches = relation().cacheBuilder().cachedColumnBuffers();
    if (conf().inMemoryPartitionPruning()) {
      Function2 chosen = relation().cacheBuilder().serializer().buildFilter(predicates(), relation().output());
      batches = batches.mapPartitionsWithIndex(chosen, true, ClassTag$.MODULE$.apply(CachedBatch.class));
    }
    int[] columns = new int[attributes().size()];
    DataType[] types = new DataType[columns.length];
    for (int i = 0; i < columns.length; i++) {
      Attribute column = (Attribute) attributes().apply(i);
      types[i] = column.dataType();
      while (!((Attribute) relation().output().apply(columns[i])).exprId().equals(column.exprId())) {
        columns[i]++;
      }
    }
    return few(batches).mapPartitions(
        new Unpacking(columns, types, longMetric("numOutputRows")), true, ClassTag$.MODULE$.apply(ColumnarBatch.class));
  }

  /** A set of numbers is a function that says which are in it, and of Spark's own classes: it travels to executors. */
  private RDD few(RDD read) {
    return !prunes || partitions().size() == all() ? read : PartitionPruningRDD$.MODULE$.create(read, partitions());
  }

  private int all() {
    return relation().cacheBuilder().cachedColumnBuffers().getNumPartitions();
  }

  /** The numbers of the partitions that may hold rows that the query wants. */
  public synchronized Set partitions() {
    if (chosen == null) {
      chosen = choose();
    }
    return chosen;
  }

  private Set choose() {
    FileSourceScanExec files = files(relation().cachedPlan());
    Seq conditions = ofColumnsIn(files);
    Configuration configuration = ((org.apache.spark.sql.classic.SparkSession) session()).sessionState().newHadoopConf();
    Names names = Names.of((PreparedDeltaFileIndex) files.relation().location());
    Pruning pruning = new Pruning(conditions, names, configuration);
    Option buckets = files.bucketedScan() ? buckets(conditions, files) : Option.empty();
    List partitions = CollectionConverters.asJava(((FileScanRDD) files.inputRDD()).filePartitions());
    ListBuffer kept = new ListBuffer();
    for (int i = 0; i < partitions.size(); i++) {
      boolean hashes = buckets.isEmpty() || ((BitSet) buckets.get()).get(i);
      if (hashes && keeps(pruning, ((FilePartition) partitions.get(i)).files())) {
        kept.addOne(Integer.valueOf(i));
      }
    }
    return (Set) Set$.MODULE$.from(kept);
  }

  /** The partitions that the keys hash to which conditions leave; nothing where that is not known. */
  private static Option buckets(Seq conditions, FileSourceScanExec files) {
    try {
      Method own = FileSourceStrategy$.class.getDeclaredMethod(
          "genBucketSet", new Class[] {Seq.class, BucketSpec.class});
      own.setAccessible(true);
      BucketSpec spec = (BucketSpec) files.relation().bucketSpec().get();
      return spec.bucketColumnNames().size() == 1
          ? (Option) own.invoke(FileSourceStrategy$.MODULE$, new Object[] {conditions, spec}) : Option.empty();
    } catch (ReflectiveOperationException none) {
      throw new IllegalStateException(none);
    }
  }

  private static boolean keeps(Pruning pruning, PartitionedFile[] files) {
    for (int i = 0; i < files.length; i++) {
      if (pruning.keeps(pruning.facts(files[i].toPath()))) {
        return true;
      }
    }
    return false;
  }

  /** What the query asks for, of the columns as the scan of the files has them. */
  private Seq ofColumnsIn(FileSourceScanExec files) {
    Map read = new HashMap();
    for (int i = 0; i < files.output().size(); i++) {
      Attribute column = (Attribute) files.output().apply(i);
      read.put(column.exprId(), column);
    }
    Map columns = new HashMap();
    for (int i = 0; i < relation().output().size(); i++) {
      Object column = read.get(((Attribute) relation().cachedPlan().output().apply(i)).exprId());
      if (column != null) {
        columns.put(((Attribute) relation().output().apply(i)).exprId(), column);
      }
    }
    ListBuffer found = new ListBuffer();
    for (int i = 0; i < predicates().size(); i++) {
      Expression condition = (Expression) predicates().apply(i);
      List asked = CollectionConverters.asJava(condition.references().toSeq());
      boolean known = true;
      for (int j = 0; j < asked.size(); j++) {
        known &= columns.containsKey(((Attribute) asked.get(j)).exprId());
      }
      if (known) {
        found.addOne(under(condition, columns));
      }
    }
    return found.toList();
  }

  private static Expression under(Expression expression, Map columns) {
    if (expression instanceof Attribute) {
      return (Expression) columns.get(((Attribute) expression).exprId());
    }
    ListBuffer children = new ListBuffer();
    for (int i = 0; i < expression.children().size(); i++) {
      children.addOne(under((Expression) expression.children().apply(i), columns));
    }
    return children.isEmpty() ? expression : (Expression) expression.withNewChildren(children.toList());
  }

  /** The scan of a plan that reads a Delta table, partition by partition, and may leave out rows; or null. */
  private static FileSourceScanExec files(SparkPlan plan) {
    SparkPlan at = plan;
    while (at instanceof WholeStageCodegenExec || at instanceof InputAdapter || at instanceof ColumnarToRowExec
        || at instanceof ProjectExec || at instanceof FilterExec) {
      at = (SparkPlan) at.children().head();
    }
    return at instanceof PartitionedScan ? (FileSourceScanExec) at : null;
  }
}
