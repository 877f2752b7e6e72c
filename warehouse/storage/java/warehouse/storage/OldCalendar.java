package warehouse.storage;

import java.util.Map;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.spark.sql.catalyst.util.RebaseDateTime;
import org.apache.spark.sql.execution.datasources.DataSourceUtils;
import org.apache.spark.sql.internal.LegacyBehaviorPolicy$;
import org.apache.spark.sql.internal.SQLConf;
import scala.runtime.AbstractFunction1;

/**
 * The calendar before 1582, in which Spark writes days and instants into files where it is told to, as it did before
 * version 3. Its readers give them as those of today's; in files, and in what is said of them, they are others.
 */
final class OldCalendar {
  /** Instants before this one are others in some zones. */
  static final long INSTANTS = RebaseDateTime.lastSwitchJulianTs();

  private static final int DAYS = RebaseDateTime.lastSwitchJulianDay();

  private OldCalendar() {}

  /** Whether a file may be of it, by what its footer says. If that is not who wrote it, a setting decides when it is read. */
  static boolean mayBeOf(final Map footer) {
    Object mode = DataSourceUtils.datetimeRebaseSpec(
        new AbstractFunction1() {
          public Object apply(Object key) {
            return footer.get(key);
          }
        },
        String.valueOf(LegacyBehaviorPolicy$.MODULE$.LEGACY())).mode();
    return mode.equals(LegacyBehaviorPolicy$.MODULE$.LEGACY());
  }

  /** Whether files are written in it by the settings of a session. */
  static boolean isWritten(SQLConf settings) {
    Object legacy = LegacyBehaviorPolicy$.MODULE$.LEGACY();
    return settings.getConf(SQLConf.PARQUET_REBASE_MODE_IN_WRITE()).equals(legacy)
        || settings.getConf(SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE()).equals(legacy);
  }

  /** Whether a value of a column may be another one to a reader. */
  static boolean moves(Object value, PrimitiveType type) {
    LogicalTypeAnnotation meant = type.getLogicalTypeAnnotation();
    if (meant instanceof LogicalTypeAnnotation.DateLogicalTypeAnnotation) {
      return ((Integer) value).intValue() < DAYS;
    }
    return meant instanceof LogicalTypeAnnotation.TimestampLogicalTypeAnnotation
        && ((Long) value).longValue() < INSTANTS;
  }
}
