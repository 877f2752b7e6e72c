package warehouse.execution;

import java.io.IOException;
import java.util.ConcurrentModificationException;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Observation;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union$;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.DeltaOperations;
import org.apache.spark.sql.delta.DeltaOptions;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.internal.SQLConf$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.runtime.AbstractFunction0;

/** What is done with rows by SQL texts, in one call of Py4J's: column by column it takes ten calls for each of them. */
public final class Frames {
  /** Options of Delta's for rows that are in the partitions in which they are to be written. */
  private static final scala.collection.immutable.Map AS_THEY_COME =
      (scala.collection.immutable.Map) Map$.MODULE$.empty().updated("optimizeWrite", "false");

  /** The columns of rows that texts, with a null character between them, compute. */
  public Dataset selected(Dataset rows, String texts) {
    return rows.selectExpr(texts.split("\0"));
  }

  /** The rows of Parquet files in folders, paths with a null character between them; null: look the schema up. */
  public Dataset parquet(SparkSession session, String paths, StructType schema) {
    DataFrameReader reader = session.read();
    return (schema == null ? reader : reader.schema(schema)).parquet(paths.split("\0"));
  }

  /** The rows of which SQL for a BIGINT is what it is of one of the `wanted` rows, which are read at once. */
  public Dataset alike(Dataset rows, Dataset wanted, String hash) {
    return new Hashes(wanted, hash).among(rows);
  }

  /** To be called when tasks have the classes that are for them. */
  public void shipped() {
    HashedFiles.ready = true;
  }

  /** What rows come to now, kept in this process; null where that is more than so many. */
  public Dataset held(Dataset rows, int most) {
    LocalRelation held = Held.of(((org.apache.spark.sql.classic.Dataset) rows).queryExecution(), most);
    return held == null ? null : org.apache.spark.sql.classic.Dataset.ofRows(
        (org.apache.spark.sql.classic.SparkSession) rows.sparkSession(), held);
  }

  /** Write what `held` returned as a folder of Parquet files, in the place of what was there. */
  public void write(Dataset rows, String folder) throws IOException {
    Held.write((org.apache.spark.sql.classic.Dataset) rows, folder);
  }

  public Observation watch() {
    return new Observation();
  }

  /** The rows, of which aggregates are taken when they are first used; see `told`. */
  public Dataset observed(Dataset rows, Observation watch, String texts) {
    Column[] all = columns(texts);
    return rows.observe(watch, all[0], rest(all));
  }

  /** The aggregates of the observed rows as JSON, once they were used; null where nothing had to read them for that. */
  public String told(Observation watch) {
    Row found = watch.getRow();
    return found.length() == 0 ? null : found.json();
  }

  /** Aggregates of rows as JSON. */
  public String figures(Dataset rows, String texts) {
    Column[] all = columns(texts);
    return ((Row[]) rows.agg(all[0], rest(all)).collect())[0].json();
  }

  /** The rows of several frames, one after the other, in a session that need not be theirs. */
  public Dataset united(SparkSession session, final List frames) {
    final org.apache.spark.sql.classic.SparkSession its = (org.apache.spark.sql.classic.SparkSession) session;
    return (Dataset) its.withActive(new AbstractFunction0() {
      public Object apply() {
        List plans = Held.together(frames);
        LogicalPlan all = (LogicalPlan) plans.get(0);
        for (int i = 1; i < plans.size(); i++) {
          all = Union$.MODULE$.apply(all, (LogicalPlan) plans.get(i));
        }
        all.setAnalyzed();
        return org.apache.spark.sql.classic.Dataset.ofRows(its, all);
      }
    });
  }

  /**
   * Append rows to a Delta table in one commit, each task one file at most.
   *
   * <p>Without what Delta's writer does around it: the table is not looked for in its folder again, which whoever writes
   * it from this process knows, and no command is planned over the one that writes. What another process has committed
   * since then stands: the transaction goes behind it, and begins anew where it was no mere rows. Where the columns of
   * the table are not quite those of the rows, Delta's writer says what does not fit.
   */
  public void append(final Dataset rows, final String folder) {
    ((org.apache.spark.sql.classic.SparkSession) rows.sparkSession()).withActive(new AbstractFunction0() {
      public Object apply() {
        DeltaLog log = DeltaLog.forTable(rows.sparkSession(), folder);
        try {
          commit(rows, log, log.unsafeVolatileSnapshot());
        } catch (ConcurrentModificationException anotherProcess) {
          commit(rows, log, log.update(log.update$default$1(), log.update$default$2(), log.update$default$3()));
        }
        return null;
      }
    });
  }

  private static void commit(Dataset rows, DeltaLog log, Snapshot known) {
    if (!hasAll(known.schema(), rows.schema())) {
      rows.write().format("delta").mode(SaveMode.Append).options(AS_THEY_COME).save(log.dataPath().toString());
      return;
    }
    Option none = Option.empty();
    OptimisticTransaction transaction = log.startTransaction(none, Option.apply(known));
    DeltaOptions asTheyCome = new DeltaOptions(AS_THEY_COME, SQLConf$.MODULE$.get());
    transaction.commit(
        transaction.writeFiles(rows, Option.apply(asTheyCome)),
        new DeltaOperations.Write(SaveMode.Append, none, none, none, none, none, none, none, none));
  }

  /** Whether a table has columns of these names and types. */
  private static boolean hasAll(StructType table, StructType wanted) {
    StructField[] each = wanted.fields();
    for (int i = 0; i < each.length; i++) {
      Option place = table.getFieldIndex(each[i].name());
      if (place.isEmpty()
          || !DataType.equalsIgnoreNullability(
              table.fields()[((Integer) place.get()).intValue()].dataType(), each[i].dataType())) {
        return false;
      }
    }
    return true;
  }

  private static Column[] columns(String texts) {
    String[] each = texts.split("\0");
    Column[] all = new Column[each.length];
    for (int i = 0; i < each.length; i++) {
      all[i] = functions.expr(each[i]);
    }
    return all;
  }

  private static Column[] rest(Column[] all) {
    Column[] others = new Column[all.length - 1];
    System.arraycopy(all, 1, others, 0, others.length);
    return others;
  }
}
