package warehouse.storage;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.CachedData;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatch;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.BlockManagerMaster;
import org.apache.spark.storage.BlockStatus;
import org.apache.spark.storage.RDDBlockId;
import scala.Option;
import scala.collection.Iterator;

/** Rows that tell what a table takes in Spark's columnar memory store: each column of each batch, and how it is kept. */
final class Cached {
  private static final StructType SCHEMA = new StructType()
      .add("partition", DataTypes.IntegerType, false)
      .add("batch", DataTypes.IntegerType, false)
      .add("column", DataTypes.StringType, false)
      .add("rows", DataTypes.LongType, false)
      .add("scheme", DataTypes.StringType, false)
      .add("bytes", DataTypes.LongType, false)
      .add("in_memory", DataTypes.LongType, false)
      .add("on_disk", DataTypes.LongType, false);

  /** In the order of the numbers that Spark writes before a column's values. */
  private static final String[] SCHEMES = {
    "plain", "run length", "dictionary", "boolean bits", "int deltas", "long deltas"};

  private Cached() {}

  /** Let a temporary view hold what is in the memory store of the plan of a table; no rows when it is not there. */
  static void view(SparkSession session, Dataset table, String view) {
    List rows = new ArrayList();
    org.apache.spark.sql.classic.SparkSession own = (org.apache.spark.sql.classic.SparkSession) session;
    Option found = own.sharedState().cacheManager().lookupCachedData((org.apache.spark.sql.classic.Dataset) table);
    if (found.isDefined()) {
      InMemoryRelation relation = ((CachedData) found.get()).cachedRepresentation();
      RDD batches = relation.cacheBuilder().cachedColumnBuffers();
      long[] there = footprint(batches);
      Iterator partitions = batches.glom().toLocalIterator();  // one at a time; what was put away is loaded
      for (int partition = 0; partitions.hasNext(); partition++) {
        Object[] held = (Object[]) partitions.next();
        for (int batch = 0; batch < held.length; batch++) {
          batch(rows, relation, partition, batch, (DefaultCachedBatch) held[batch], there);
        }
      }
    }
    session.createDataFrame(rows, SCHEMA).createOrReplaceTempView(view);
  }

  /**
   * Bytes of the batches in memory and on disk. All who hold blocks are asked for each: what Spark's list of them says
   * is not told of blocks that went to disk and came back.
   */
  private static long[] footprint(RDD batches) {
    BlockManagerMaster master = SparkEnv.get().blockManager().master();
    long[] bytes = {0, 0};
    for (int partition = 0; partition < batches.getNumPartitions(); partition++) {
      Iterator found = holders(master, new RDDBlockId(batches.id(), partition));
      while (found.hasNext()) {
        BlockStatus status = (BlockStatus) found.next();
        bytes[0] += status.memSize();
        bytes[1] += status.diskSize();
      }
    }
    return bytes;
  }

  private static Iterator holders(BlockManagerMaster master, RDDBlockId block) {
    try {
      return master.getBlockStatus(block, true).valuesIterator();
    } catch (Exception gone) {  // one of them has just died, and this is not known yet
      return master.getBlockStatus(block, false).valuesIterator();
    }
  }

  private static void batch(
      List rows, InMemoryRelation relation, int partition, int batch, DefaultCachedBatch values, long[] there) {
    for (int i = 0; i < relation.output().size(); i++) {
      Attribute column = (Attribute) relation.output().apply(i);
      byte[] buffer = values.buffers()[i];
      rows.add(RowFactory.create(new Object[] {
        Integer.valueOf(partition), Integer.valueOf(batch), column.name(), Long.valueOf(values.numRows()),
        scheme(buffer, column.dataType()), Long.valueOf(buffer.length), Long.valueOf(there[0]),
        Long.valueOf(there[1])}));
    }
  }

  /** A column begins with how many NULLs it has and where; then, of types that can be packed, the scheme's number. */
  private static String scheme(byte[] buffer, DataType type) {
    boolean wide = type instanceof DecimalType && ((DecimalType) type).precision() > 18;
    boolean packed = !wide && !(type instanceof BinaryType)
        && (type instanceof org.apache.spark.sql.types.AtomicType);
    if (!packed) {
      return SCHEMES[0];
    }
    ByteBuffer read = ByteBuffer.wrap(buffer).order(ByteOrder.nativeOrder());
    int nulls = read.getInt();
    int number = read.getInt(4 + 4 * nulls);
    return number >= 0 && number < SCHEMES.length ? SCHEMES[number] : SCHEMES[0];
  }
}
