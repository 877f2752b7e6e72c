package warehouse.storage;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** What a Parquet file says of one of its columns, in Parquet's values. */
final class Column {
  final PrimitiveType type;

  /** How many NULLs there are, or -1 when the file does not say. */
  final long nulls;

  /** The least and the greatest value; null when there is none, or the file does not say. */
  final Object least;
  final Object greatest;

  /** All values but NULL, when every page of the column is written by a dictionary of few; else null. */
  final List values;

  Column(PrimitiveType type, long nulls, Object least, Object greatest, List values) {
    this.type = type;
    this.nulls = nulls;
    this.least = least;
    this.greatest = greatest;
    this.values = values;
  }

  /** Return what is also true of it for those who read it, if it is in the {@link OldCalendar}. */
  Column ofOldCalendar() {
    boolean moves = least != null && OldCalendar.moves(least, type);
    for (int i = 0; values != null && i < values.size(); i++) {
      moves |= OldCalendar.moves(values.get(i), type);
    }
    return moves ? new Column(type, nulls, null, null, null) : this;
  }

  /** Return the values as Spark's of a type; null when they are not known or not to be had in it. */
  List valuesAs(DataType wanted) {
    if (values == null) {
      return null;
    }
    List found = new ArrayList();
    for (int i = 0; i < values.size(); i++) {
      Object value = as(values.get(i), wanted);
      if (value == null) {
        return null;
      }
      found.add(value);
    }
    return Collections.unmodifiableList(found);
  }

  /** Return one of Parquet's values as Spark's of a type, or null. */
  Object as(Object value, DataType wanted) {
    LogicalTypeAnnotation meant = type.getLogicalTypeAnnotation();
    if (value == null) {
      return null;
    }
    if (wanted instanceof DecimalType) {
      return decimal(value, meant, (DecimalType) wanted);
    }
    if (meant instanceof LogicalTypeAnnotation.DecimalLogicalTypeAnnotation) {
      return null;
    }
    if (wanted instanceof TimestampType || wanted instanceof TimestampNTZType) {
      boolean micros = meant instanceof LogicalTypeAnnotation.TimestampLogicalTypeAnnotation
          && ((LogicalTypeAnnotation.TimestampLogicalTypeAnnotation) meant).getUnit()
              == LogicalTypeAnnotation.TimeUnit.MICROS;
      return micros && value instanceof Long ? value : null;
    }
    if (meant instanceof LogicalTypeAnnotation.TimestampLogicalTypeAnnotation) {
      return null;
    }
    if (wanted instanceof DateType) {
      return meant instanceof LogicalTypeAnnotation.DateLogicalTypeAnnotation ? value : null;
    }
    if (value instanceof Boolean) {
      return wanted instanceof BooleanType ? value : null;
    }
    if (value instanceof Binary) {
      byte[] bytes = ((Binary) value).getBytes();
      if (wanted.equals(DataTypes.StringType)) {
        return UTF8String.fromBytes(bytes);
      }
      return wanted instanceof BinaryType ? bytes : null;
    }
    return number((Number) value, wanted);
  }

  private static Object number(Number value, DataType wanted) {
    boolean whole = value instanceof Integer || value instanceof Long;
    if (wanted instanceof LongType && whole) {
      return Long.valueOf(value.longValue());
    }
    if (wanted instanceof IntegerType && value instanceof Integer) {
      return value;
    }
    if (wanted instanceof ShortType && value instanceof Integer) {
      return Short.valueOf(value.shortValue());
    }
    if (wanted instanceof ByteType && value instanceof Integer) {
      return Byte.valueOf(value.byteValue());
    }
    if (wanted instanceof DoubleType && value instanceof Double || wanted instanceof FloatType && value instanceof Float) {
      return value;
    }
    return null;
  }

  private static Object decimal(Object value, LogicalTypeAnnotation meant, DecimalType wanted) {
    if (!(meant instanceof LogicalTypeAnnotation.DecimalLogicalTypeAnnotation)) {
      return null;
    }
    int scale = ((LogicalTypeAnnotation.DecimalLogicalTypeAnnotation) meant).getScale();
    if (scale != wanted.scale()) {
      return null;
    }
    BigInteger unscaled = value instanceof Binary
        ? new BigInteger(((Binary) value).getBytes()) : BigInteger.valueOf(((Number) value).longValue());
    return Decimal.apply(new BigDecimal(unscaled, scale), wanted.precision(), wanted.scale());
  }
}
