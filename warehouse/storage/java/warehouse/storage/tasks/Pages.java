package warehouse.storage.tasks;

import java.util.Arrays;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The rows of a task, a page full of those of one partition after that of another one, so that what the writer of a
 * partition looks values up in stays in the processor's cache for as long as a page. The last column of a row is the
 * number of its partition; rows of one partition stay in order.
 */
final class Pages extends AbstractIterator {
  /** Bytes: of all pages together, of one at most, and before each row, which holds its length. */
  private static final int ALL = 64 << 20;
  private static final int MOST = 4 << 20;
  private static final int LENGTH = 8;

  private final Iterator rows;
  private final byte[][] pages;
  private final int[] ends;
  private final UnsafeRow row;
  private final int last;
  private final int full;
  private int page = -1;
  private int at;
  private int drained;
  private boolean ended;

  Pages(Iterator rows, int partitions, int columns) {
    this.rows = rows;
    this.pages = new byte[partitions][1 << 10];
    this.ends = new int[partitions];
    this.row = new UnsafeRow(columns);
    this.last = columns - 1;
    this.full = Math.min(MOST, ALL / partitions);
  }

  public boolean hasNext() {
    if (page >= 0 && at < ends[page]) {
      return true;
    }
    if (page >= 0) {
      ends[page] = 0;
      page = -1;
    }
    while (page < 0 && !ended) {
      if (rows.hasNext()) {
        take((UnsafeRow) rows.next());
      } else {
        ended = true; // asked once more, Spark's operators would add their time once more
      }
    }
    while (page < 0 && drained < pages.length) {
      page = ends[drained] > 0 ? drained : -1;
      drained++;
    }
    at = 0;
    return page >= 0;
  }

  private void take(UnsafeRow next) {
    int number = next.getInt(last);
    int size = next.getSizeInBytes();
    int start = ends[number];
    int end = start + LENGTH + size;
    if (end > pages[number].length) {
      pages[number] = Arrays.copyOf(pages[number], Math.max(end, Math.min(2 * pages[number].length, full)));
    }
    Platform.putInt(pages[number], Platform.BYTE_ARRAY_OFFSET + start, size);
    next.writeToMemory(pages[number], Platform.BYTE_ARRAY_OFFSET + start + LENGTH);
    ends[number] = end;
    if (end + LENGTH + size > full) {
      page = number;
    }
  }

  public Object next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    int size = Platform.getInt(pages[page], Platform.BYTE_ARRAY_OFFSET + at);
    row.pointTo(pages[page], Platform.BYTE_ARRAY_OFFSET + at + LENGTH, size);
    at += LENGTH + size;
    return row;
  }
}
