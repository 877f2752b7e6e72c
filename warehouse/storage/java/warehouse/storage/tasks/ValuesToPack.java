package warehouse.storage.tasks;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/** A column whose values are packed here; see {@link Packed} for how. */
abstract class ValuesToPack extends ToPack {
  static final int BASE = Platform.BYTE_ARRAY_OFFSET;

  /** A scheme is chosen if it leaves less than so much of the plain bytes, as Spark has it. */
  private static final double WORTH = 0.8;

  private int[] nulls = new int[16];
  private int missing;
  private int rows;

  void take(ColumnVector column, int from, int count) {
    boolean some = column.hasNull();
    for (int row = from; row < from + count; row++) {
      if (some && column.isNullAt(row)) {
        nothing();
      } else {
        value(column, row);
        rows++;
      }
    }
  }

  void take(InternalRow row, int column) {
    if (row.isNullAt(column)) {
      nothing();
    } else {
      value(row, column);
      rows++;
    }
  }

  private void nothing() {
    if (missing == nulls.length) {
      nulls = Arrays.copyOf(nulls, 2 * missing);
    }
    nulls[missing] = rows;
    missing++;
    rows++;
  }

  /** Take a value that is not NULL. */
  abstract void value(ColumnVector column, int row);

  abstract void value(InternalRow row, int column);

  /** How many bytes the values have that were taken, before they are packed. */
  abstract long size();

  /** The least and the greatest value, as Spark's statistics have them. */
  abstract Object least();

  abstract Object greatest();

  /** Return what all values take by the scheme that is best for them, with room for `head` bytes before it, and begin anew. */
  abstract byte[] values(int head);

  /** The number of the scheme that `values` chose. */
  abstract int scheme();

  long bytes() {
    return size() + 4 * missing;
  }

  Object[] statistics() {
    return new Object[] {least(), greatest(), Integer.valueOf(missing), Integer.valueOf(rows), Long.valueOf(bytes())};
  }

  byte[] packed() {
    int head = 8 + 4 * missing;
    byte[] found = values(head);
    Platform.putInt(found, BASE, missing);
    for (int i = 0; i < missing; i++) {
      Platform.putInt(found, BASE + 4 + 4 * i, nulls[i]);
    }
    Platform.putInt(found, BASE + head - 4, scheme());
    missing = 0;
    rows = 0;
    return found;
  }

  /** Whether it pays to pack so many bytes into so many. */
  static boolean pays(long packed, long plain) {
    return packed < WORTH * plain;
  }
}
