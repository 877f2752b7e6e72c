package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.InternalRow;

/** What was seen of the rows of one file; made with the first of them. */
final class Tally {
  final Measure[] columns;
  long rows;

  Tally(Measure[] columns) {
    this.columns = columns;
  }

  void take(InternalRow row, InternalRow joined) {
    rows++;
    for (int i = 0; i < columns.length; i++) {
      columns[i].take(row, joined);
    }
  }
}
