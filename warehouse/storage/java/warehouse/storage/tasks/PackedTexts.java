package warehouse.storage.tasks;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/** A column of texts: where each begins, or which of some it is. */
final class PackedTexts extends Packed {
  private long[] places;
  private UTF8String[] some;

  PackedTexts(DataType type, byte[] bytes, int rows) {
    super(type, bytes, rows);
  }

  public UTF8String getUTF8String(int row) {
    if (places == null) {
      places = unpack();
    }
    int place = (int) places[row];
    return some == null ? textAt(place) : some[place];
  }

  private long[] unpack() {
    long[] found = new long[rows];
    if (scheme == PLAIN) {
      int place = start;
      for (int i = 0; i < values; i++) {
        found[i] = place;
        place += 4 + intAt(place);
      }
    } else if (scheme == RUNS) {
      runs(found);
    } else if (scheme == DICTIONARY) {
      dictionary(found);
    } else {
      throw new IllegalStateException("unknown scheme " + scheme);
    }
    return toRows(found);
  }

  private void runs(long[] found) {
    int place = start;
    for (int i = 0; i < values; ) {
      int after = place + 4 + intAt(place);
      int end = i + intAt(after);
      while (i < end) {
        found[i] = place;
        i++;
      }
      place = after + 4;
    }
  }

  private void dictionary(long[] found) {
    some = new UTF8String[intAt(start)];
    int place = start + 4;
    for (int i = 0; i < some.length; i++) {
      some[i] = textAt(place);
      place += 4 + some[i].numBytes();
    }
    for (int i = 0; i < values; i++) {
      found[i] = shortAt(place + 2 * i);
    }
  }
}
