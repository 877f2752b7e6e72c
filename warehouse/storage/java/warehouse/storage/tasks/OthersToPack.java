package warehouse.storage.tasks;

import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.columnar.ColumnBuilder;
import org.apache.spark.sql.execution.columnar.ColumnBuilder$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** A column that Spark's own builder puts together. */
final class OthersToPack extends ToPack {
  private static final int INITIAL = 1 << 10;

  private final DataType type;
  private final boolean compressed;
  private ColumnBuilder builder;

  OthersToPack(DataType type, boolean compressed) {
    this.type = type;
    this.compressed = compressed;
    begin();
  }

  private void begin() {
    builder = ColumnBuilder$.MODULE$.apply(type, INITIAL, "", compressed);
  }

  void take(ColumnVector column, int from, int count) {
    ColumnarBatch rows = new ColumnarBatch(new ColumnVector[] {column}, from + count);
    for (int row = from; row < from + count; row++) {
      take(rows.getRow(row), 0);
    }
  }

  void take(InternalRow row, int column) {
    builder.appendFrom(row, column);
  }

  long bytes() {
    return builder.columnStats().sizeInBytes();
  }

  Object[] statistics() {
    return (Object[]) builder.columnStats().collectedStatistics();
  }

  byte[] packed() {
    byte[] found = JavaUtils.bufferToArray(builder.build());
    begin();
    return found;
  }
}
