package warehouse.storage;

import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;

/**
 * When the clocks of a zone change. Where they go back past midnight, a later instant is on an earlier day. No clock
 * changes by more than a day, nor twice within two, so that one change is enough to look at.
 */
final class Clocks {
  private Clocks() {}

  /** The first instant after the next change, in microseconds; null where there is none. */
  static Long after(long micros, ZoneId zone) {
    ZoneOffsetTransition change = zone.getRules().nextTransition(DateTimeUtils.microsToInstant(micros));
    return change == null ? null : Long.valueOf(DateTimeUtils.instantToMicros(change.getInstant()));
  }

  /** The last instant before the change that came last, in microseconds; null where there is none. */
  static Long before(long micros, ZoneId zone) {
    Instant next = DateTimeUtils.microsToInstant(Math.addExact(micros, 1));
    ZoneOffsetTransition change = zone.getRules().previousTransition(next);
    return change == null ? null : Long.valueOf(DateTimeUtils.instantToMicros(change.getInstant()) - 1);
  }
}
