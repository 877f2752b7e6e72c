package warehouse.storage;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.stats.DeltaJobStatisticsTracker;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import warehouse.storage.tasks.Packing;
import warehouse.storage.tasks.Remembering;

/**
 * A transaction of a table that belongs into memory: while its tasks write files they pack the rows, so that these are
 * not read again to be put there. (Loading in one pass: Shark; Zaharia, 3.3.)
 */
class RememberingTransaction extends OptimisticTransaction {
  /** A setting of a session, and of a table: in which unit files have times. */
  private static final String UNIT = "spark.sql.parquet.outputTimestampType";

  private final boolean remembers;

  /** The same as `begun`; `remembers` says whether its table belongs into memory. */
  RememberingTransaction(OptimisticTransaction begun, boolean remembers) {
    super(begun.deltaLog(), begun.catalogTable(), begun.snapshot());
    this.remembers = remembers;
  }

  public Tuple2 getOptionalStatsTrackerAndStatsCollection(Seq output, Path path, StructType folders, Dataset data) {
    Tuple2 made = super.getOptionalStatsTrackerAndStatsCollection(output, path, folders, data);
    Option gathering = (Option) made._1();
    if (!remembers || gathering.isEmpty()) {
      return made;
    }
    DeltaJobStatisticsTracker statistics = (DeltaJobStatisticsTracker) gathering.get();
    SQLConf settings = ((SparkSession) data.sparkSession()).sessionState().conf();
    Packing packing = new Packing(statistics.dataCols(), settings);
    boolean all = packing.isOwn() && isAll(statistics.dataCols()) && !OldCalendar.isWritten(settings);
    return all ? new Tuple2(
        Option.apply(new Remembering(statistics, packing, path, deltaLog().newDeltaHadoopConf())), made._2()) : made;
  }

  /** Whether columns are those that the table is read as, and files have their values. */
  private boolean isAll(Seq columns) {
    StructType table = metadata().schema();
    boolean same = columns.size() == table.size();
    for (int i = 0; same && i < columns.size(); i++) {
      Attribute column = (Attribute) columns.apply(i);
      same = column.name().equals(table.apply(i).name()) && column.dataType().equals(table.apply(i).dataType())
          && (!DataTypes.TimestampType.equals(column.dataType()) || areMicroseconds());
    }
    return same;
  }

  private boolean areMicroseconds() {
    Option said = metadata().configuration().get(UNIT);
    return "TIMESTAMP_MICROS".equalsIgnoreCase(
        said.isDefined() ? (String) said.get() : spark().sessionState().conf().getConfString(UNIT));
  }
}
