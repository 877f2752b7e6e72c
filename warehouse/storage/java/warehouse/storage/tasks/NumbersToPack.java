package warehouse.storage.tasks;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;

/** A column of numbers, and of what is kept as such, that is being put together. */
final class NumbersToPack extends ValuesToPack {
  private static final int TRUTH = 0;
  private static final int WHOLE = 1;
  private static final int FLOAT = 2;
  private static final int DOUBLE = 3;
  private static final int DECIMAL = 4;

  private final DataType type;
  private final int kind;
  private final int width;
  private final boolean compressed;
  private final int precision;
  private final int scale;
  private final Codes known = new Codes();
  private long[] values = new long[1 << 9];
  private short[] codes;
  private long[] distinct;
  private int count;
  private int scheme;

  NumbersToPack(DataType type, boolean compressed) {
    this.type = type;
    this.width = Packed.width(type);
    this.kind = kind(type);
    this.compressed = compressed && kind <= WHOLE;
    this.precision = kind == DECIMAL ? ((DecimalType) type).precision() : 0;
    this.scale = kind == DECIMAL ? ((DecimalType) type).scale() : 0;
  }

  private static int kind(DataType type) {
    if (DataTypes.BooleanType.equals(type)) {
      return TRUTH;
    }
    if (DataTypes.FloatType.equals(type)) {
      return FLOAT;
    }
    if (DataTypes.DoubleType.equals(type)) {
      return DOUBLE;
    }
    return type instanceof DecimalType ? DECIMAL : WHOLE;
  }

  void value(ColumnVector column, int row) {
    add(kind == WHOLE ? whole(column, row) : other(column, row));
  }

  private void add(long value) {
    if (count == values.length) {
      values = Arrays.copyOf(values, 2 * count);
    }
    values[count] = value;
    count++;
  }

  private long whole(ColumnVector column, int row) {
    if (width == 8) {
      return column.getLong(row);
    }
    return width == 4 ? column.getInt(row) : (int) (width == 2 ? column.getShort(row) : column.getByte(row));
  }

  private long other(ColumnVector column, int row) {
    if (kind == DOUBLE) {
      return Double.doubleToRawLongBits(column.getDouble(row));
    }
    if (kind == DECIMAL) {
      return column.getDecimal(row, precision, scale).toUnscaledLong();
    }
    return kind == FLOAT ? Float.floatToRawIntBits(column.getFloat(row)) : (column.getBoolean(row) ? 1 : 0);
  }

  void value(InternalRow row, int column) {
    add(kind == WHOLE ? whole(row, column) : other(row, column));
  }

  private long whole(InternalRow row, int column) {
    if (width == 8) {
      return row.getLong(column);
    }
    return width == 4 ? row.getInt(column) : (int) (width == 2 ? row.getShort(column) : row.getByte(column));
  }

  private long other(InternalRow row, int column) {
    if (kind == DOUBLE) {
      return Double.doubleToRawLongBits(row.getDouble(column));
    }
    if (kind == DECIMAL) {
      return row.getDecimal(column, precision, scale).toUnscaledLong();
    }
    return kind == FLOAT ? Float.floatToRawIntBits(row.getFloat(column)) : (row.getBoolean(column) ? 1 : 0);
  }

  long size() {
    return (long) width * count;
  }

  Object least() {
    return bound(false);
  }

  Object greatest() {
    return bound(true);
  }

  /**
   * The least value or the greatest. Of no values it is the type's greatest or its least, as Spark has it. A NaN is the
   * greatest of all, which Spark's own statistics leave out.
   */
  private Object bound(boolean greatest) {
    if (kind == FLOAT || kind == DOUBLE) {
      return fraction(greatest);
    }
    if (count == 0 && kind == DECIMAL) {
      return null;
    }
    long most = kind == TRUTH ? 1 : Long.MAX_VALUE >>> 64 - 8 * width;
    long found = greatest ? (kind == TRUTH ? 0 : -most - 1) : most;
    if (greatest) {
      for (int i = 0; i < count; i++) {
        found = Math.max(found, values[i]);
      }
    } else {
      for (int i = 0; i < count; i++) {
        found = Math.min(found, values[i]);
      }
    }
    return boxed(found);
  }

  private Object boxed(long value) {
    if (kind == TRUTH) {
      return Boolean.valueOf(value != 0);
    }
    if (kind == DECIMAL) {
      return Decimal.createUnsafe(value, precision, scale);
    }
    if (width == 8) {
      return Long.valueOf(value);
    }
    if (width == 4) {
      return Integer.valueOf((int) value);
    }
    return width == 2 ? (Object) Short.valueOf((short) value) : Byte.valueOf((byte) value);
  }

  private Object fraction(boolean greatest) {
    double most = kind == FLOAT ? Float.MAX_VALUE : Double.MAX_VALUE;
    double found = greatest ? -most : most;
    for (int i = 0; i < count; i++) {
      double value = kind == FLOAT ? Float.intBitsToFloat((int) values[i]) : Double.longBitsToDouble(values[i]);
      if (greatest ? value > found || value != value : value < found) {
        found = value;
      }
      if (found != found) {
        break;
      }
    }
    return kind == FLOAT ? (Object) Float.valueOf((float) found) : Double.valueOf(found);
  }

  int scheme() {
    return scheme;
  }

  byte[] values(int head) {
    scheme = Packed.PLAIN;
    int packed = compressed && count > 0 ? choose() : 0;
    byte[] found = new byte[head + (scheme == Packed.PLAIN ? width * count : packed)];
    if (scheme == Packed.PLAIN) {
      for (int i = 0; i < count; i++) {
        put(found, head + width * i, values[i]);
      }
    } else if (scheme == Packed.RUNS) {
      runs(found, head);
    } else if (scheme == Packed.DICTIONARY) {
      dictionary(found, head);
    } else if (scheme == Packed.BITS) {
      bits(found, head);
    } else {
      deltas(found, head);
    }
    count = 0;
    return found;
  }

  private void put(byte[] bytes, int place, long value) {
    if (width == 8) {
      Platform.putLong(bytes, BASE + place, value);
    } else if (width == 4) {
      Platform.putInt(bytes, BASE + place, (int) value);
    } else if (width == 2) {
      Platform.putShort(bytes, BASE + place, (short) value);
    } else {
      bytes[place] = (byte) value;
    }
  }

  /** Choose the scheme that takes the fewest bytes, which are returned. */
  private int choose() {
    int best = (int) size();
    int runs = bytesOfRuns();
    if (runs < best) {
      best = runs;
      scheme = Packed.RUNS;
    }
    if (kind == TRUTH) {
      int bits = 4 + 8 * (count + 63 >> 6);
      scheme = bits < best ? Packed.BITS : scheme;
      best = Math.min(bits, best);
    } else if (width >= 4) {
      int deltas = bytesOfDeltas();
      if (deltas < best) {
        best = deltas;
        scheme = width == 4 ? Packed.INT_DELTAS : Packed.LONG_DELTAS;
      }
      int most = (best - 4 - 2 * count) / width;
      if (numbered(most)) {
        best = 4 + width * known.count() + 2 * count;
        scheme = Packed.DICTIONARY;
      }
    }
    if (!pays(best, size())) {
      scheme = Packed.PLAIN;
    }
    return best;
  }

  private int bytesOfRuns() {
    int runs = 1;
    for (int i = 1; i < count; i++) {
      runs += values[i] == values[i - 1] ? 0 : 1;
    }
    return runs * (width + 4);
  }

  private int bytesOfDeltas() {
    int whole = 1;
    for (int i = 1; i < count; i++) {
      whole += near(values[i], values[i - 1]) ? 0 : 1;
    }
    return count + width * whole;
  }

  private static boolean near(long value, long before) {
    long delta = value - before;
    return delta > Byte.MIN_VALUE && delta <= Byte.MAX_VALUE;
  }

  /** Give different values numbers, unless there are more of them than so many. */
  private boolean numbered(int most) {
    known.clear();
    int limit = Math.min(most, Short.MAX_VALUE);
    if (limit <= 0) {
      return false;
    }
    codes = new short[count];
    distinct = new long[limit];
    for (int i = 0; i < count; i++) {
      int hash = (int) (values[i] * 0x9E3779B97F4A7C15L >>> 32);
      int code = known.first(hash);
      while (code >= 0 && distinct[code] != values[i]) {
        code = known.next(hash);
      }
      if (code < 0) {
        if (known.count() >= limit) {
          return false;
        }
        code = known.add(hash);
        distinct[code] = values[i];
      }
      codes[i] = (short) code;
    }
    return true;
  }

  private void dictionary(byte[] found, int head) {
    int all = known.count();
    Platform.putInt(found, BASE + head, all);
    for (int i = 0; i < all; i++) {
      put(found, head + 4 + width * i, distinct[i]);
    }
    int place = BASE + head + 4 + width * all;
    for (int i = 0; i < count; i++) {
      Platform.putShort(found, place + 2 * i, codes[i]);
    }
  }

  private void runs(byte[] found, int head) {
    int place = head;
    for (int i = 0; i < count; ) {
      int end = i + 1;
      while (end < count && values[end] == values[i]) {
        end++;
      }
      put(found, place, values[i]);
      Platform.putInt(found, BASE + place + width, end - i);
      place += width + 4;
      i = end;
    }
  }

  private void bits(byte[] found, int head) {
    Platform.putInt(found, BASE + head, count);
    for (int i = 0; i < count; i += 64) {
      long word = 0;
      for (int j = i; j < Math.min(i + 64, count); j++) {
        word |= values[j] << j;
      }
      Platform.putLong(found, BASE + head + 4 + (i >> 3), word);
    }
  }

  private void deltas(byte[] found, int head) {
    int place = head;
    for (int i = 0; i < count; i++) {
      boolean near = i > 0 && near(values[i], values[i - 1]);
      found[place] = near ? (byte) (values[i] - values[i - 1]) : Byte.MIN_VALUE;
      place++;
      if (!near) {
        put(found, place, values[i]);
        place += width;
      }
    }
  }
}
