package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.columnar.ColumnBuilder$;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatch;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Rows that are being put together to a batch for Spark's columnar memory store, one batch after the other. */
final class BatchToPack {
  /** Rows that are taken between two looks at how many bytes there are. */
  private static final int PIECE = 128;

  private final ToPack[] columns;
  private final int size;
  private int rows;
  private boolean full;

  /** See {@link Packing}. */
  BatchToPack(DataType[] types, int size, boolean compressed, boolean own) {
    this.size = size;
    this.columns = new ToPack[types.length];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = ToPack.of(types[i], compressed, own);
    }
  }

  boolean isEmpty() {
    return rows == 0;
  }

  boolean isFull() {
    return full;
  }

  void take(InternalRow row) {
    for (int i = 0; i < columns.length; i++) {
      columns[i].take(row, i);
    }
    taken(1);
  }

  /** Take rows of vectors, from one on as many as there is room for; return how many. */
  int take(ColumnarBatch vectors, int from) {
    int count = Math.min(Math.min(PIECE, size - rows), vectors.numRows() - from);
    for (int i = 0; i < columns.length; i++) {
      columns[i].take(vectors.column(i), from, count);
    }
    taken(count);
    return count;
  }

  private void taken(int count) {
    boolean look = rows / PIECE != (rows + count) / PIECE;
    rows += count;
    full = rows >= size || look && bytes() >= ColumnBuilder$.MODULE$.MAX_BATCH_SIZE_IN_BYTE();
  }

  private long bytes() {
    long bytes = 0;
    for (int i = 0; i < columns.length; i++) {
      bytes += columns[i].bytes();
    }
    return bytes;
  }

  /** Return the batch, and begin with the next one. */
  DefaultCachedBatch packed() {
    byte[][] buffers = new byte[columns.length][];
    Object[] statistics = new Object[ToPack.STATISTICS * columns.length];
    for (int i = 0; i < columns.length; i++) {
      System.arraycopy(columns[i].statistics(), 0, statistics, ToPack.STATISTICS * i, ToPack.STATISTICS);
      buffers[i] = columns[i].packed();
    }
    DefaultCachedBatch batch = new DefaultCachedBatch(rows, buffers, new GenericInternalRow(statistics));
    rows = 0;
    full = false;
    return batch;
  }
}
