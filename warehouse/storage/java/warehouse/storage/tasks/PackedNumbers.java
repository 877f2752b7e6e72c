package warehouse.storage.tasks;

import java.util.Arrays;
import org.apache.spark.sql.types.DataType;

/** A column of numbers and of what is kept as such: truth values, dates, times, short decimals. */
final class PackedNumbers extends Packed {
  private final int width;
  private long[] unpacked;

  PackedNumbers(DataType type, byte[] bytes, int rows, int width) {
    super(type, bytes, rows);
    this.width = width;
  }

  public long getLong(int row) {
    if (unpacked == null) {
      unpacked = unpack();
    }
    return unpacked[row];
  }

  private long[] unpack() {
    long[] found = new long[rows];
    if (scheme == PLAIN) {
      plain(found, start, values);
    } else if (scheme == RUNS) {
      runs(found);
    } else if (scheme == DICTIONARY) {
      dictionary(found);
    } else if (scheme == BITS) {
      bits(found);
    } else if (scheme == INT_DELTAS || scheme == LONG_DELTAS) {
      deltas(found);
    } else {
      throw new IllegalStateException("unknown scheme " + scheme);
    }
    return toRows(found);
  }

  private long at(int place) {
    if (width == 8) {
      return longAt(place);
    }
    return width == 4 ? intAt(place) : (int) (width == 2 ? shortAt(place) : bytes[place]);
  }

  private void plain(long[] found, int from, int count) {
    if (width == 8) {
      for (int i = 0; i < count; i++) {
        found[i] = longAt(from + 8 * i);
      }
    } else if (width == 4) {
      for (int i = 0; i < count; i++) {
        found[i] = intAt(from + 4 * i);
      }
    } else {
      for (int i = 0; i < count; i++) {
        found[i] = at(from + width * i);
      }
    }
  }

  private void runs(long[] found) {
    int place = start;
    for (int i = 0; i < values; place += width + 4) {
      int end = i + intAt(place + width);
      Arrays.fill(found, i, end, at(place));
      i = end;
    }
  }

  private void dictionary(long[] found) {
    long[] known = new long[intAt(start)];
    plain(known, start + 4, known.length);
    int place = start + 4 + width * known.length;
    for (int i = 0; i < values; i++) {
      found[i] = known[shortAt(place + 2 * i)];
    }
  }

  private void bits(long[] found) {
    for (int i = 0; i < values; i++) {
      found[i] = longAt(start + 4 + 8 * (i >> 6)) >>> (i & 63) & 1;
    }
  }

  /** A byte that is no difference is before a value that is whole. */
  private void deltas(long[] found) {
    long value = 0;
    int place = start;
    for (int i = 0; i < values; i++) {
      byte delta = bytes[place];
      place++;
      if (delta == Byte.MIN_VALUE) {
        value = at(place);
        place += width;
      } else {
        value += delta;
      }
      found[i] = value;
    }
  }
}
