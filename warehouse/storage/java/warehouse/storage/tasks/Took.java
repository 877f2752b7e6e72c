package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** The tally in the buffer, once it has taken a row: children are the buffer and the columns. */
final class Took extends Own {
  /** Of the pair that Delta's projection makes of the buffer and the row. */
  private static final int BUFFER = 0;
  private static final int ROW = 1;

  private final boolean[] bounded;

  Took(Seq children, boolean[] bounded) {
    super(children);
    this.bounded = bounded;
  }

  public Object eval(InternalRow joined) {
    Tally tally = (Tally) joined.getStruct(BUFFER, 1).get(0, Gathered.TALLY);
    if (tally == null) {
      tally = new Tally(measures());
    }
    tally.take(joined.getStruct(ROW, bounded.length), joined);
    return tally;
  }

  private Measure[] measures() {
    Measure[] found = new Measure[bounded.length];
    for (int i = 0; i < found.length; i++) {
      found[i] = Measure.of(child(i + 1), bounded[i]);
    }
    return found;
  }

  public boolean nullable() {
    return false;
  }

  public DataType dataType() {
    return Gathered.TALLY;
  }

  public Expression withNewChildrenInternal(IndexedSeq changed) {
    return new Took(changed, bounded);
  }
}
