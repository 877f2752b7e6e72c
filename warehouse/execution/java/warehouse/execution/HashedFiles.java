package warehouse.execution;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BindReferences$;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.package$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.immutable.Map;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import warehouse.execution.tasks.Numbers;
import warehouse.execution.tasks.RowsByHash;

/** Parquet files that never change, of which the rows are read whose hash is among some, and perhaps others. */
final class HashedFiles extends ParquetFileFormat {
  /** Whether tasks have the classes that are for them. */
  static volatile boolean ready;

  /** What Spark's reader fills with the number of each row in its file. */
  private static final String NUMBER = ParquetFileFormat.ROW_INDEX_TEMPORARY_COLUMN_NAME();

  /** What reads files; its functions take it along to tasks. */
  private static final ParquetFileFormat OWN = new ParquetFileFormat();

  private final StructType columns;
  private final Expression hash;
  private final Numbers wanted;

  private HashedFiles(StructType columns, Expression hash, Numbers wanted) {
    this.columns = columns;
    this.hash = hash;
    this.wanted = wanted;
  }

  /** The plan of rows, a hash of which is among those that are wanted; itself where it reads no files of Parquet's. */
  static LogicalPlan among(Numbers wanted, Expression hash, LogicalPlan plan) {
    if (plan instanceof Project || plan instanceof Filter) {
      LogicalPlan below = (LogicalPlan) plan.children().head();
      LogicalPlan after = among(wanted, hash, below);
      return after == below ? plan : (LogicalPlan) plan.withNewChildren(list(after));
    }
    boolean applies = ready && plan instanceof LogicalRelation
        && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation
        && hash.references().subsetOf(plan.outputSet());
    HadoopFsRelation files = applies ? (HadoopFsRelation) ((LogicalRelation) plan).relation() : null;
    return applies && files.fileFormat().getClass() == ParquetFileFormat.class
        ? over((LogicalRelation) plan, files, hash, wanted) : plan;
  }

  private static LogicalPlan over(LogicalRelation plan, HadoopFsRelation files, Expression hash, Numbers wanted) {
    List read = new ArrayList(CollectionConverters.asJava(hash.references().toSeq()));
    StructType columns = new StructType();
    for (int i = 0; i < read.size(); i++) {
      Attribute column = (Attribute) read.get(i);
      columns = columns.add(column.name(), column.dataType(), column.nullable());
    }
    Expression bound = (Expression) BindReferences$.MODULE$.bindReference(
        hash, package$.MODULE$.AttributeSeq(CollectionConverters.asScala(read).toList()), false);
    HadoopFsRelation chosen = files.copy(
        files.location(), files.partitionSchema(), files.dataSchema(), files.bucketSpec(),
        new HashedFiles(columns, bound, wanted), files.options(), files.sparkSession());
    return plan.copy(chosen, plan.output(), plan.catalogTable(), plan.isStreaming(), plan.stream());
  }

  public Function1 buildReaderWithPartitionValues(
      SparkSession session, StructType data, StructType partitions, StructType wantedColumns, Seq filters, Map options,
      Configuration conf) {
    Seq everyRow = (Seq) (Object) Nil$.MODULE$;
    Function1 hashed = OWN.buildReaderWithPartitionValues(
        session, data, partitions, columns.add(NUMBER, DataTypes.LongType), everyRow, options, new Configuration(conf));
    Function1 all = OWN.buildReaderWithPartitionValues(
        session, data, partitions, wantedColumns, filters, options, conf);
    List both = new ArrayList();
    both.add(hash);
    both.add(new BoundReference(columns.size(), DataTypes.LongType, true));
    String name = columns.catalogString() + hash.sql();
    return new RowsByHash(all, hashed, CollectionConverters.asScala(both).toList(), name, wanted);
  }

  public boolean equals(Object other) {
    return this == other;
  }

  public int hashCode() {
    return System.identityHashCode(this);
  }

  private static Seq list(Object one) {
    List all = new ArrayList();
    all.add(one);
    return CollectionConverters.asScala(all).toList();
  }
}
