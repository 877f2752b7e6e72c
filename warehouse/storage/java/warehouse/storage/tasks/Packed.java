package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;

/**
 * A column of a batch in Spark's columnar memory store, read as it is packed there: unpacked when its first value is
 * asked for, of many columns and batches never. The bytes are how many values are NULL and which, a number for the
 * scheme, and the other values by that (Spark's `CompressionScheme`).
 */
public abstract class Packed extends ColumnVector {
  static final int PLAIN = 0;
  static final int RUNS = 1;
  static final int DICTIONARY = 2;
  static final int BITS = 3;
  static final int INT_DELTAS = 4;
  static final int LONG_DELTAS = 5;

  private static final int BASE = Platform.BYTE_ARRAY_OFFSET;

  /** How many rows there are, and how many values; where in `bytes` these begin, and by which scheme. */
  final int rows;
  final int values;
  final int start;
  final int scheme;
  final byte[] bytes;

  private final boolean[] nulls;

  Packed(DataType type, byte[] bytes, int rows) {
    super(type);
    this.bytes = bytes;
    this.rows = rows;
    int count = intAt(0);
    this.values = rows - count;
    this.nulls = count == 0 ? null : new boolean[rows];
    for (int i = 0; i < count; i++) {
      nulls[intAt(4 + 4 * i)] = true;
    }
    this.scheme = intAt(4 + 4 * count);
    this.start = 8 + 4 * count;
  }

  /** Whether columns of a type can be read so. */
  public static boolean reads(DataType type) {
    return DataTypes.StringType.equals(type) || width(type) > 0;
  }

  /** Whether all of some columns can be. */
  public static boolean reads(Seq columns) {
    boolean all = true;
    for (int i = 0; i < columns.size(); i++) {
      all &= reads(((Attribute) columns.apply(i)).dataType());
    }
    return all;
  }

  static ColumnVector of(DataType type, byte[] bytes, int rows) {
    return DataTypes.StringType.equals(type)
        ? (ColumnVector) new PackedTexts(type, bytes, rows) : new PackedNumbers(type, bytes, rows, width(type));
  }

  /** How many bytes a value of a type has; 0 where that is not one number. */
  static int width(DataType type) {
    if (DataTypes.BooleanType.equals(type) || DataTypes.ByteType.equals(type)) {
      return 1;
    }
    if (DataTypes.ShortType.equals(type)) {
      return 2;
    }
    if (DataTypes.IntegerType.equals(type) || DataTypes.DateType.equals(type) || DataTypes.FloatType.equals(type)) {
      return 4;
    }
    boolean eight = DataTypes.LongType.equals(type) || DataTypes.DoubleType.equals(type)
        || DataTypes.TimestampType.equals(type) || DataTypes.TimestampNTZType.equals(type)
        || type instanceof DecimalType && ((DecimalType) type).precision() <= Decimal.MAX_LONG_DIGITS();
    return eight ? 8 : 0;
  }

  final int intAt(int place) {
    return Platform.getInt(bytes, BASE + place);
  }

  final long longAt(int place) {
    return Platform.getLong(bytes, BASE + place);
  }

  final short shortAt(int place) {
    return Platform.getShort(bytes, BASE + place);
  }

  final UTF8String textAt(int place) {
    return UTF8String.fromAddress(bytes, BASE + place + 4, intAt(place));
  }

  /** Put what was found for the values, one after the other, where their rows are. */
  final long[] toRows(long[] found) {
    int next = values;
    for (int row = rows - 1; row >= next; row--) {
      if (!isNullAt(row)) {
        next--;
        found[row] = found[next];
      }
    }
    return found;
  }

  public boolean hasNull() {
    return nulls != null;
  }

  public int numNulls() {
    return rows - values;
  }

  public boolean isNullAt(int row) {
    return nulls != null && nulls[row];
  }

  /** There is nothing to give back. */
  public void close() {}

  public boolean getBoolean(int row) {
    return getLong(row) != 0;
  }

  public byte getByte(int row) {
    return (byte) getLong(row);
  }

  public short getShort(int row) {
    return (short) getLong(row);
  }

  public int getInt(int row) {
    return (int) getLong(row);
  }

  public float getFloat(int row) {
    return Float.intBitsToFloat((int) getLong(row));
  }

  public double getDouble(int row) {
    return Double.longBitsToDouble(getLong(row));
  }

  public Decimal getDecimal(int row, int precision, int scale) {
    return Decimal.createUnsafe(getLong(row), precision, scale);
  }

  public long getLong(int row) {
    throw new UnsupportedOperationException();
  }

  public UTF8String getUTF8String(int row) {
    throw new UnsupportedOperationException();
  }

  public byte[] getBinary(int row) {
    throw new UnsupportedOperationException();
  }

  public ColumnarArray getArray(int row) {
    throw new UnsupportedOperationException();
  }

  public ColumnarMap getMap(int row) {
    throw new UnsupportedOperationException();
  }

  public ColumnVector getChild(int number) {
    throw new UnsupportedOperationException();
  }
}
