package warehouse.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.FileSourceOptions;
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap$;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.datasources.FileFormat$;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.collection.BitSet;
import scala.Option;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.collection.mutable.ListBuffer;

/**
 * Spark's scan of the files of a Delta table, a file being a partition: it says how many of them are read, starts one
 * task for each, and gives those of a distributed table the numbers that their rows hash to.
 */
public class PartitionedScan extends FileSourceScanExec {
  /** More files than this are put together into fewer tasks, as Spark does. */
  private static final int MOST_TASKS = 64;

  /** What Delta names a file after the task that wrote it. */
  private static final Pattern WRITTEN_BY = Pattern.compile("part-(\\d+)-.*");

  private transient RDD read;
  private transient PartitionedFile[] chosen;

  public PartitionedScan(
      HadoopFsRelation relation, Option stream, Seq output, StructType requiredSchema, Seq partitionFilters,
      Option optionalBucketSet, Option optionalNumCoalescedBuckets, Seq dataFilters, Option tableIdentifier,
      boolean disableBucketedScan) {
    super(
        relation, stream, output, requiredSchema, partitionFilters, optionalBucketSet, optionalNumCoalescedBuckets,
        dataFilters, tableIdentifier, disableBucketedScan);
  }

  static PartitionedScan of(FileSourceScanExec scan) {
    return new PartitionedScan(
        scan.relation(), scan.stream(), scan.output(), scan.requiredSchema(), scan.partitionFilters(),
        scan.optionalBucketSet(), scan.optionalNumCoalescedBuckets(), scan.dataFilters(), scan.tableIdentifier(),
        scan.disableBucketedScan());
  }

  /**
   * Spark's rules copy scans; a copy of this one is one of its kind. One of them gives up partitions that no operator
   * asks for.
   */
  public FileSourceScanExec copy(
      HadoopFsRelation relation, Option stream, Seq output, StructType requiredSchema, Seq partitionFilters,
      Option optionalBucketSet, Option optionalNumCoalescedBuckets, Seq dataFilters, Option tableIdentifier,
      boolean disableBucketedScan) {
    return new PartitionedScan(
        relation, stream, output, requiredSchema, partitionFilters, optionalBucketSet, optionalNumCoalescedBuckets,
        dataFilters, tableIdentifier, disableBucketedScan && !Written.marked(relation));
  }

  /** Spark keeps a node in place of another one that is equal. */
  public boolean canEqual(Object other) {
    return other instanceof PartitionedScan;
  }

  public boolean equals(Object other) {
    return canEqual(other) && super.equals(other);
  }

  public int hashCode() {
    return super.hashCode();
  }

  /** What travels to executors, inside of operators that know their plan, is Spark's own. */
  protected Object writeReplace() {
    return new FileSourceScanExec(
        relation(), stream(), output(), requiredSchema(), partitionFilters(), optionalBucketSet(),
        optionalNumCoalescedBuckets(), dataFilters(), tableIdentifier(), disableBucketedScan());
  }

  public Map metadata() {
    PreparedDeltaFileIndex index = (PreparedDeltaFileIndex) relation().location();
    Object all = index.preparedScan().total().files().getOrElse(null);
    return all == null
        ? super.metadata()
        : (Map) super.metadata().updated("partitions read", partitions().length + " of " + all);
  }

  public synchronized RDD inputRDD() {
    if (read == null) {
      read = read();
      sendDriverMetrics();
    }
    return read;
  }

  /** The files that may hold rows that the query wants, as far as is known before it runs. */
  synchronized PartitionedFile[] partitions() {
    if (chosen == null) {
      chosen = kept(selectedPartitions().toPartitionArray());
    }
    return chosen;
  }

  /** The names of the files that are read, one a partition. */
  public List names() {
    PartitionedFile[] files = partitions();
    List names = new ArrayList();
    for (int i = 0; i < files.length; i++) {
      names.add(files[i].toPath().getName());
    }
    return names;
  }

  private PartitionedFile[] kept(PartitionedFile[] files) {
    List wanted = new ArrayList();
    for (int i = 0; i < files.length; i++) {
      if (!optionalBucketSet().isDefined()
          || ((BitSet) optionalBucketSet().get()).get(number(files[i].toPath().getName()))) {
        wanted.add(files[i]);
      }
    }
    org.apache.spark.sql.SparkSession session = relation().sparkSession();
    if (Layouts.on(session, Layouts.PRUNING)) {
      Names names = Names.of((PreparedDeltaFileIndex) relation().location());
      Pruning pruning = new Pruning(dataFilters(), names, getHadoopConf(session, relation().options()));
      for (int i = wanted.size() - 1; i >= 0; i--) {
        if (!pruning.keeps(pruning.facts(((PartitionedFile) wanted.get(i)).toPath()))) {
          wanted.remove(i);
        }
      }
    }
    return (PartitionedFile[]) wanted.toArray(new PartitionedFile[0]);
  }

  private RDD read() {
    PartitionedFile[] files = dynamicallySelectedPartitions() == selectedPartitions()
        ? partitions() : kept(dynamicallySelectedPartitions().toPartitionArray());
    long largest = 0;
    for (int i = 0; i < files.length; i++) {
      largest = Math.max(largest, files[i].length());
    }
    boolean bucketed = bucketedScan();
    org.apache.spark.sql.SparkSession session = relation().sparkSession();
    if (!bucketed && (files.length > MOST_TASKS || largest > getSqlConf(session).filesMaxPartitionBytes())) {
      return super.inputRDD();
    }
    Map options = (Map) relation().options().updated(
        FileFormat$.MODULE$.OPTION_RETURNING_BATCH(), String.valueOf(supportsColumnar()));
    scala.Function1 reader = relation().fileFormat().buildReaderWithPartitionValues(
        session, relation().dataSchema(), relation().partitionSchema(), requiredSchema(), pushedDownFilters(), options,
        getHadoopConf(session, relation().options()));
    return new FileScanRDD(
        session, reader, bucketed ? buckets(files) : each(files),
        new StructType((org.apache.spark.sql.types.StructField[]) concat(
            requiredSchema().fields(), relation().partitionSchema().fields())),
        fileConstantMetadataColumns(), relation().fileFormat().fileConstantMetadataExtractors(),
        new FileSourceOptions(CaseInsensitiveMap$.MODULE$.apply(relation().options())));
  }

  private static org.apache.spark.sql.types.StructField[] concat(
      org.apache.spark.sql.types.StructField[] one, org.apache.spark.sql.types.StructField[] other) {
    org.apache.spark.sql.types.StructField[] all =
        new org.apache.spark.sql.types.StructField[one.length + other.length];
    System.arraycopy(one, 0, all, 0, one.length);
    System.arraycopy(other, 0, all, one.length, other.length);
    return all;
  }

  private static Seq each(PartitionedFile[] files) {
    ListBuffer made = new ListBuffer();
    for (int i = 0; i < files.length; i++) {
      made.addOne(new FilePartition(i, new PartitionedFile[] {files[i]}));
    }
    return made.toList();
  }

  /** One partition for each number, whether it has files or not, as the other side of a join expects. */
  private Seq buckets(PartitionedFile[] files) {
    int all = ((org.apache.spark.sql.catalyst.catalog.BucketSpec) relation().bucketSpec().get()).numBuckets();
    int kept = optionalNumCoalescedBuckets().isDefined()
        ? ((Integer) optionalNumCoalescedBuckets().get()).intValue() : all;
    List[] groups = new List[kept];
    for (int i = 0; i < kept; i++) {
      groups[i] = new ArrayList();
    }
    for (int i = 0; i < files.length; i++) {
      groups[number(files[i].toPath().getName()) % kept].add(files[i]);
    }
    ListBuffer made = new ListBuffer();
    for (int i = 0; i < kept; i++) {
      made.addOne(new FilePartition(i, (PartitionedFile[]) groups[i].toArray(new PartitionedFile[0])));
    }
    return made.toList();
  }

  /** The number of the partition that a file belongs to. */
  static int number(String file) {
    Matcher found = WRITTEN_BY.matcher(file);
    if (!found.matches()) {
      throw new IllegalStateException("not a file of a distributed table: " + file);
    }
    return Integer.parseInt(found.group(1));
  }
}
