package warehouse.execution.tasks;

import java.io.Closeable;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Reads a Parquet file, and of it those rows whose hash is among some, by the hashes that are kept of it. All rows are
 * read where many are, and where Spark's reader cannot be told to leave rows out.
 */
public final class RowsByHash extends AbstractFunction1 implements Serializable {
  /** Where more than one in so many rows is wanted, all are read. */
  private static final int ONE_IN = 8;

  private final Function1 all;
  private final Function1 hashed;
  private final Seq hash;
  private final String name;
  private final Numbers wanted;

  /**
   * @param all Spark's function from a file to its rows
   * @param hashed from a file to the columns that are hashed, of each row, and the row's number in the file
   * @param hash a hash and the number, bound to these columns
   * @param name what tells this hash from others of the same file
   * @param wanted the hashes of the rows to read
   */
  public RowsByHash(Function1 all, Function1 hashed, Seq hash, String name, Numbers wanted) {
    this.all = all;
    this.hashed = hashed;
    this.hash = hash;
    this.name = name;
    this.wanted = wanted;
  }

  public Object apply(Object given) {
    PartitionedFile file = (PartitionedFile) given;
    Object rows = all.apply(file);
    RowGroups groups = RowGroups.of(rows);
    if (groups != null) {
      String key = file.filePath() + " " + file.start() + " " + file.length() + " " + file.modificationTime() + name;
      KeptHashes hashes = KeptHashes.of(key);
      if (hashes == null) {
        hashes = hashes((Iterator) hashed.apply(file));
        hashes.keep(key);
      }
      long[] chosen = hashes.among(wanted, groups.rows() / ONE_IN);
      if (chosen != null) {
        groups.choose(chosen);
      }
    }
    return rows;
  }

  private KeptHashes hashes(Iterator columns) {
    UnsafeProjection both = UnsafeProjection$.MODULE$.create(hash);
    long first = 0;
    long[] hashes = new long[1024];
    int count = 0;
    while (columns.hasNext()) {
      Object next = columns.next();
      boolean batch = next instanceof ColumnarBatch;
      int rows = batch ? ((ColumnarBatch) next).numRows() : 1;
      for (int i = 0; i < rows; i++) {
        InternalRow row = both.apply(batch ? ((ColumnarBatch) next).getRow(i) : (InternalRow) next);
        if (count == 0) {
          first = row.getLong(1);
        }
        if (count == hashes.length) {
          hashes = Arrays.copyOf(hashes, 2 * count);
        }
        hashes[count++] = row.getLong(0);
      }
    }
    close((Closeable) columns);
    return new KeptHashes(first, Arrays.copyOf(hashes, count));
  }

  private static void close(Closeable rows) {
    try {
      rows.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
