package warehouse.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * What Delta's log says of the rows that were written to a file: how many there were, and for each column how many NULLs,
 * the least and the greatest value. Of rows that were deleted since the log says nothing but how many they are. In the
 * {@link OldCalendar} some of them are of other days and instants to who reads the file than they were when written.
 */
final class Said {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map stats;

  private Said(Map stats) {
    this.stats = stats;
  }

  static Said of(AddFile file) {
    try {
      return new Said(file.stats() == null ? Collections.EMPTY_MAP : (Map) JSON.readValue(file.stats(), Map.class));
    } catch (JsonProcessingException broken) {
      return new Said(Collections.EMPTY_MAP);
    }
  }

  /** How many rows were NULL in a column; null where that is not said. */
  Long nulls(String column) {
    return whole(value("nullCount", column));
  }

  /** Whether a column was NULL in all rows. */
  boolean onlyNulls(String column) {
    Long nulls = nulls(column);
    return nulls != null && nulls.equals(whole(stats.get("numRecords")));
  }

  /** The least value of a column of whole numbers or days; null where it is not said. */
  Long least(String column, DataType type) {
    return number(value("minValues", column), type);
  }

  /** The greatest value of a column of whole numbers or days; null where it is not said. */
  Long greatest(String column, DataType type) {
    return number(value("maxValues", column), type);
  }

  /** A number that no value of a column is below, of an instant its microseconds; null where none is known. */
  Long floor(String column, DataType type) {
    if (!type.equals(DataTypes.TimestampType)) {
      return least(column, type);
    }
    Long said = instant(value("minValues", column), 0);
    return said == null || said.longValue() >= OldCalendar.INSTANTS ? said : Long.valueOf(Long.MIN_VALUE);
  }

  /** A number that no value of a column is above: of instants, milliseconds are said, and what is below them cut off. */
  Long ceiling(String column, DataType type) {
    if (!type.equals(DataTypes.TimestampType)) {
      return greatest(column, type);
    }
    Long said = instant(value("maxValues", column), 999);
    return said == null ? null : Long.valueOf(Math.max(said.longValue(), OldCalendar.INSTANTS));
  }

  private Object value(String what, String column) {
    Object each = stats.get(what);
    return each instanceof Map ? ((Map) each).get(column) : null;
  }

  private static Long number(Object value, DataType type) {
    if (!type.equals(DataTypes.DateType)) {
      return whole(value);
    }
    try {
      Long day = value instanceof String ? Long.valueOf(LocalDate.parse((String) value).toEpochDay()) : null;
      return day == null || Careful.leftOut(day.longValue()) ? null : day;
    } catch (DateTimeException other) {
      return null;
    }
  }

  private static Long whole(Object value) {
    return value instanceof Integer || value instanceof Long ? Long.valueOf(((Number) value).longValue()) : null;
  }

  private static long micros(String value) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, OffsetDateTime.parse(value));
  }

  private static Long instant(Object value, int more) {
    try {
      return value instanceof String
          ? Long.valueOf(Math.addExact(micros((String) value), more))
          : null;
    } catch (DateTimeException other) {
      return null;
    } catch (ArithmeticException far) {
      return null;
    }
  }
}
