package warehouse.storage.tasks;

import java.io.Serializable;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatch;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Of the batches of a partition in memory, some columns as vectors ({@link Packed}). */
public final class Unpacking extends AbstractFunction1 implements Serializable {
  private final int[] columns;
  private final DataType[] types;
  private final SQLMetric rows;

  /** @param columns their numbers among those of a batch; `rows` counts what is read. */
  public Unpacking(int[] columns, DataType[] types, SQLMetric rows) {
    this.columns = columns;
    this.types = types;
    this.rows = rows;
  }

  public Object apply(final Object batches) {
    return new AbstractIterator() {
      public boolean hasNext() {
        return ((Iterator) batches).hasNext();
      }

      public Object next() {
        return unpacked((DefaultCachedBatch) ((Iterator) batches).next());
      }
    };
  }

  private ColumnarBatch unpacked(DefaultCachedBatch batch) {
    ColumnVector[] vectors = new ColumnVector[columns.length];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = Packed.of(types[i], batch.buffers()[columns[i]], batch.numRows());
    }
    rows.add(batch.numRows());
    return new ColumnarBatch(vectors, batch.numRows());
  }
}
