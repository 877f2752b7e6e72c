package warehouse.storage.tasks;

import java.io.Serializable;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/** Of the rows of a task, or of its batches of vectors, the batches that the memory store keeps. */
public final class Packing extends AbstractFunction1 implements Serializable {
  /** A setting of a session; it is on unless it says false. */
  private static final String SETTING = "warehouse.packing";

  /** What Delta says of a column that has another name in its files. */
  private static final String NAME_IN_FILES = "delta.columnMapping.physicalName";

  private final DataType[] types;
  private final int size;
  private final boolean compressed;
  private final boolean own;
  private final boolean whole;
  private final String layout;

  /**
   * How columns are packed by the settings of a session: at most how many rows are a batch, whether other schemes than the
   * plain one may be chosen, and whether they are packed here where that is known how to, not by Spark.
   */
  public Packing(Seq columns, SQLConf conf) {
    this.types = new DataType[columns.size()];
    this.size = conf.columnBatchSize();
    this.compressed = conf.useCompression();
    this.own = !"false".equalsIgnoreCase(conf.getConfString(SETTING, "true"));
    this.whole = own && Packed.reads(columns);
    StringBuilder told = new StringBuilder(size + " " + compressed + " " + own);
    for (int i = 0; i < types.length; i++) {
      Attribute column = (Attribute) columns.apply(i);
      types[i] = column.dataType();
      boolean mapped = column.metadata().contains(NAME_IN_FILES);
      told.append('\n').append(mapped ? column.metadata().getString(NAME_IN_FILES) : column.name());
      told.append(' ').append(types[i].json());
    }
    this.layout = told.toString();
  }

  /** Files of one layout give equal batches. */
  String layout() {
    return layout;
  }

  /** Whether all columns are packed here. */
  public boolean isOwn() {
    return whole;
  }

  BatchToPack batch() {
    return new BatchToPack(types, size, compressed, own);
  }

  public Object apply(Object given) {
    return new Batches((Iterator) given, batch());
  }

  private static final class Batches extends AbstractIterator {
    private final Iterator given;
    private final BatchToPack batch;
    /** What is left of the last vectors, or null: the reader fills them anew as soon as it is asked for more. */
    private ColumnarBatch vectors;

    private int at;

    Batches(Iterator given, BatchToPack batch) {
      this.given = given;
      this.batch = batch;
    }

    public boolean hasNext() {
      return vectors != null || given.hasNext();
    }

    public Object next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      while (!batch.isFull() && hasNext()) {
        take();
      }
      return batch.packed();
    }

    private void take() {
      if (vectors == null) {
        Object next = given.next();
        if (next instanceof InternalRow) {
          batch.take((InternalRow) next);
          return;
        }
        vectors = (ColumnarBatch) next;
        at = 0;
      }
      at += batch.take(vectors, at);
      vectors = at < vectors.numRows() ? vectors : null;
    }
  }
}
