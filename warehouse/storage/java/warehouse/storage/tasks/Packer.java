package warehouse.storage.tasks;

import org.apache.spark.OneToOneDependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.storage.StorageLevel;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag$;

/**
 * Fills Spark's columnar memory store a column of a batch at a time, from the vectors that Parquet's reader has, where
 * Spark makes rows of these and looks at each value once for each scheme. What is kept is as Spark keeps it, by the
 * same schemes, so that Spark reads it too. Of files that are in memory already nothing is read ({@link PackedFiles}).
 * (Columns loaded into memory as they are written, each by a scheme that its task chooses: Shark; Zaharia, 3.3.)
 */
public final class Packer extends DefaultCachedBatchSerializer {
  public boolean supportsColumnarInput(Seq columns) {
    return Packed.reads(columns);
  }

  public RDD convertColumnarBatchToCachedBatch(RDD batches, Seq columns, StorageLevel level, SQLConf conf) {
    Packing packing = new Packing(columns, conf);
    RDD under = under(batches);
    return packing.isOwn() && under instanceof FileScanRDD ? new PackedFiles(under, packing) : packed(batches, packing);
  }

  /** What a scan of files reads, which counts its rows only. */
  private static RDD under(RDD batches) {
    boolean one = batches.dependencies().size() == 1 && batches.dependencies().head() instanceof OneToOneDependency;
    return one ? ((OneToOneDependency) batches.dependencies().head()).rdd() : batches;
  }

  public RDD convertInternalRowToCachedBatch(RDD rows, Seq columns, StorageLevel level, SQLConf conf) {
    return packed(rows, new Packing(columns, conf));
  }

  private static RDD packed(RDD given, Packing packing) {
    return given.mapPartitions(packing, true, ClassTag$.MODULE$.apply(CachedBatch.class));
  }
}
