package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A figure of the tally in the buffer, which is the only child. */
final class Told extends Own {
  static final int ROWS = 0;
  static final int NULLS = 1;
  static final int LEAST = 2;
  static final int GREATEST = 3;

  private final int figure;
  private final int column;
  private final DataType type;

  Told(Seq buffer, int figure, int column, DataType type) {
    super(buffer);
    this.figure = figure;
    this.column = column;
    this.type = type;
  }

  /** Without rows there is no tally; Spark's sums are then NULL and its counts 0. */
  public Object eval(InternalRow buffer) {
    Tally tally = (Tally) child(0).eval(buffer);
    if (figure == ROWS) {
      return Long.valueOf(tally == null ? 0 : tally.rows);
    }
    if (tally == null) {
      return null;
    }
    Measure seen = tally.columns[column];
    return figure == NULLS ? (Object) Long.valueOf(seen.nulls) : figure == LEAST ? seen.least() : seen.greatest();
  }

  public boolean nullable() {
    return figure != ROWS;
  }

  public DataType dataType() {
    return type;
  }

  public Expression withNewChildrenInternal(IndexedSeq changed) {
    return new Told(changed, figure, column, type);
  }
}
