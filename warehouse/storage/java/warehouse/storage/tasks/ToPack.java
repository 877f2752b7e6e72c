package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.vectorized.ColumnVector;

/** A column of a batch that is being put together for Spark's columnar memory store, of one batch after the other. */
abstract class ToPack {
  /** Of a column: its least value and its greatest, how many are NULL, how many rows there are, and bytes. */
  static final int STATISTICS = 5;

  static ToPack of(DataType type, boolean compressed, boolean own) {
    if (!own || !Packed.reads(type)) {
      return new OthersToPack(type, compressed);
    }
    return DataTypes.StringType.equals(type)
        ? (ToPack) new TextsToPack(compressed) : new NumbersToPack(type, compressed);
  }

  /** Take the values of a vector, from one row on so many. */
  abstract void take(ColumnVector column, int from, int count);

  /** Take the value of a row. */
  abstract void take(InternalRow row, int column);

  /** How many bytes were taken, before they are packed, as Spark counts them. */
  abstract long bytes();

  /** What Spark wants to know of the column: its `STATISTICS`. */
  abstract Object[] statistics();

  /** Return the column as it is kept, and begin with that of the next batch. */
  abstract byte[] packed();
}
