package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** What was seen of the rows of one file; made with the first of them. */
final class Tally {
  final Measure[] columns;
  long rows;

  Tally(Measure[] columns) {
    this.columns = columns;
  }

  void take(InternalRow row, InternalRow joined) {
    rows++;
    boolean whole = row instanceof UnsafeRow && !((UnsafeRow) row).anyNull();
    for (int i = 0; i < columns.length; i++) {
      columns[i].take(row, joined, whole);
    }
  }
}
