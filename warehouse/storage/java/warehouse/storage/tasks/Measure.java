package warehouse.storage.tasks;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import scala.math.Ordering;

/** How many values of a column are NULL, and the least and the greatest of the others. */
abstract class Measure {
  long nulls;

  /** Look at a row, which `joined` has beside the aggregation's buffer; if `whole`, none of its values is NULL. */
  abstract void take(InternalRow row, InternalRow joined, boolean whole);

  /** As Spark keeps a value of the column; null where there was none, or where it was not asked for. */
  abstract Object least();

  abstract Object greatest();

  /** Return what measures a column that Delta has bound to such pairs of rows. */
  static Measure of(Expression column, boolean bounded) {
    DataType type = column.dataType();
    boolean direct = column instanceof GetStructField && ((GetStructField) column).child() instanceof BoundReference;
    int ordinal = direct ? ((GetStructField) column).ordinal() : -1;
    if (direct && !bounded) {
      return new Presence(ordinal);
    }
    if (direct && DataTypes.StringType.equals(type)) {
      return new Text(ordinal);
    }
    boolean whole = DataTypes.LongType.equals(type) || DataTypes.IntegerType.equals(type)
        || DataTypes.TimestampType.equals(type) || DataTypes.DateType.equals(type)
        || type instanceof DecimalType && ((DecimalType) type).precision() <= Decimal.MAX_LONG_DIGITS();
    return direct && whole ? (Measure) new Numbers(ordinal, type) : new Other(column, bounded);
  }

  /** A column of which NULLs alone are counted. */
  private static final class Presence extends Measure {
    private final int ordinal;

    Presence(int ordinal) {
      this.ordinal = ordinal;
    }

    void take(InternalRow row, InternalRow joined, boolean whole) {
      if (!whole && row.isNullAt(ordinal)) {
        nulls++;
      }
    }

    Object least() {
      return null;
    }

    Object greatest() {
      return null;
    }
  }

  /** Numbers numbers, and what is kept as such: dates, times, short decimals. */
  private static final class Numbers extends Measure {
    private final int ordinal;
    private final DecimalType decimal;
    private final boolean narrow;
    private boolean empty = true;
    private long least;
    private long greatest;

    Numbers(int ordinal, DataType type) {
      this.ordinal = ordinal;
      this.decimal = type instanceof DecimalType ? (DecimalType) type : null;
      this.narrow = type.equals(DataTypes.IntegerType) || type.equals(DataTypes.DateType);
    }

    void take(InternalRow row, InternalRow joined, boolean whole) {
      if (!whole && row.isNullAt(ordinal)) {
        nulls++;
        return;
      }
      long value = narrow ? row.getInt(ordinal) : decimal == null || row instanceof UnsafeRow ? row.getLong(ordinal)
          : row.getDecimal(ordinal, decimal.precision(), decimal.scale()).toUnscaledLong();
      if (empty) {
        empty = false;
        least = value;
        greatest = value;
      } else if (value < least) {
        least = value;
      } else if (value > greatest) {
        greatest = value;
      }
    }

    Object least() {
      return empty ? null : kept(least);
    }

    Object greatest() {
      return empty ? null : kept(greatest);
    }

    private Object kept(long value) {
      if (decimal != null) {
        return Decimal.createUnsafe(value, decimal.precision(), decimal.scale());
      }
      return narrow ? (Object) Integer.valueOf((int) value) : (Object) Long.valueOf(value);
    }
  }

  /**
   * Texts, compared byte by byte; a row's are in memory that the next row takes. Of most the first eight bytes, as an
   * unsigned number whose sign is turned, tell that they are neither.
   */
  private static final class Text extends Measure {
    private final int ordinal;
    private UTF8String least;
    private UTF8String greatest;
    private long leastPrefix;
    private long greatestPrefix;

    Text(int ordinal) {
      this.ordinal = ordinal;
    }

    void take(InternalRow row, InternalRow joined, boolean whole) {
      if (!whole && row.isNullAt(ordinal)) {
        nulls++;
        return;
      }
      if (least != null && row instanceof UnsafeRow && between((UnsafeRow) row)) {
        return;
      }
      UTF8String value = row.getUTF8String(ordinal);
      if (least == null) {
        least = value.copy();
        greatest = least;
        leastPrefix = value.getPrefix() ^ Long.MIN_VALUE;
        greatestPrefix = leastPrefix;
      } else if (value.binaryCompare(least) < 0) {
        least = value.copy();
        leastPrefix = value.getPrefix() ^ Long.MIN_VALUE;
      } else if (value.binaryCompare(greatest) > 0) {
        greatest = value.copy();
        greatestPrefix = value.getPrefix() ^ Long.MIN_VALUE;
      }
    }

    /** Whether the first bytes of a row's text say that it is neither; the row has whole words of it. */
    private boolean between(UnsafeRow row) {
      long place = row.getLong(ordinal);
      int bytes = (int) place;
      if (bytes == 0) {
        return false;
      }
      long word = Long.reverseBytes(Platform.getLong(row.getBaseObject(), row.getBaseOffset() + (place >> 32)));
      long prefix = (bytes < 8 ? word & -1L << 64 - 8 * bytes : word) ^ Long.MIN_VALUE;
      return prefix > leastPrefix && prefix < greatestPrefix;
    }

    Object least() {
      return least;
    }

    Object greatest() {
      return greatest;
    }
  }

  /** Any other type, and fields of structs. */
  private static final class Other extends Measure {
    private final Expression column;
    private final Ordering ordering;
    private Object least;
    private Object greatest;

    Other(Expression column, boolean bounded) {
      this.column = column;
      this.ordering = bounded ? TypeUtils.getInterpretedOrdering(column.dataType()) : null;
    }

    void take(InternalRow row, InternalRow joined, boolean whole) {
      Object value = column.eval(joined);
      if (value == null) {
        nulls++;
      } else if (ordering == null) {
        return;
      } else if (least == null) {
        least = InternalRow.copyValue(value);
        greatest = least;
      } else if (ordering.compare(value, least) < 0) {
        least = InternalRow.copyValue(value);
      } else if (ordering.compare(value, greatest) > 0) {
        greatest = InternalRow.copyValue(value);
      }
    }

    Object least() {
      return least;
    }

    Object greatest() {
      return greatest;
    }
  }
}
