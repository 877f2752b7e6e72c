package warehouse.endpoint;

import java.util.Collections;
import java.util.Map;
import org.apache.hive.service.cli.FetchOrientation;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.OperationState;
import org.apache.hive.service.cli.OperationStatus;
import org.apache.hive.service.cli.session.HiveSession;
import org.apache.hive.service.rpc.thrift.TRowSet;
import org.apache.hive.service.rpc.thrift.TTableSchema;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.hive.thriftserver.IterableFetchIterator;
import org.apache.spark.sql.hive.thriftserver.SparkExecuteStatementOperation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.unsafe.Platform;
import scala.Function0;

/** One statement of a client: Spark's operation, that fails in our words and whose cancellation reaches Python. */
public class Execution extends SparkExecuteStatementOperation {
  private static final ThreadLocal CURRENT = new ThreadLocal();

  private final House house;
  private final SparkSession session;
  private final String text;
  private boolean read;
  private boolean prepared;

  Execution(House house, SparkSession session, HiveSession parent, String text, Map overlay, boolean background,
      long timeout) {
    super(session, parent, text, overlay, background, timeout);
    this.house = house;
    this.session = session;
    this.text = text;
  }

  /** The id of the statement that this thread executes, empty outside of any. */
  static String current() {
    Object execution = CURRENT.get();
    return execution == null ? "" : ((Execution) execution).statementId();
  }

  /** Whether what is being parsed is the statement that this thread executes: it is the first text that Spark reads. */
  static boolean reads() {
    Execution execution = (Execution) CURRENT.get();
    boolean first = execution != null && !execution.read;
    if (first) {
      execution.read = true;
    }
    return first;
  }

  public void runInternal() {
    CURRENT.set(this);
    try {
      super.runInternal();
    } catch (Throwable error) {
      Platform.throwException(clean(error));
    } finally {
      CURRENT.remove();
    }
  }

  /** Spark calls this around what it does in a thread of its own. */
  public Object withLocalProperties(Function0 work) {
    Object before = CURRENT.get();
    CURRENT.set(this);
    try {
      return super.withLocalProperties(work);
    } finally {
      if (before == null) {
        CURRENT.remove();
      }
    }
  }

  /** What a client is told: a statement that fails has failed when it is known why, or it would be told nothing. */
  public OperationStatus getStatus() {
    OperationStatus status = super.getStatus();
    for (int i = 0; i < 500 && CURRENT.get() != this && isUnsaid(status); i++) {
      try {
        Thread.sleep(20L);
      } catch (InterruptedException gone) {
        Thread.currentThread().interrupt();
        return status;
      }
      status = super.getStatus();
    }
    return status;
  }

  private boolean isUnsaid(OperationStatus status) {
    boolean unsaid = status.getState() == OperationState.ERROR && status.getOperationException() == null;
    return unsaid && getBackgroundHandle() != null && !getBackgroundHandle().isDone();
  }

  protected void setOperationException(HiveSQLException error) {
    super.setOperationException(clean(error));
  }

  public TTableSchema getResultSetSchema() {
    try {
      prepareRows();
      return super.getResultSetSchema();
    } catch (Throwable error) { // a type that the protocol does not know
      Platform.throwException(clean(error));
      return null;
    }
  }

  public TRowSet getNextRowSet(FetchOrientation order, long most) {
    try {
      prepareRows();
      return super.getNextRowSet(order, most);
    } catch (Throwable error) {
      Platform.throwException(clean(error));
      return null;
    }
  }

  /** Read the rows in our way; what the protocol has no name for travels as text, as in the engine's own results. */
  synchronized void prepareRows() throws Exception {
    SparkSession.setActiveSession(session); // whose settings say what types there are
    Class spark = SparkExecuteStatementOperation.class;
    String field = spark.getName().replace('.', '$') + "$$result";
    Dataset given = (Dataset) Fields.get(spark, this, field);
    if (prepared || given == null) {
      return;
    }
    prepared = true;
    Dataset made = asText(given);
    Iterable rows = new Rows(made);
    if (session.conf().contains(Parcels.ASKED) && given.schema().length() > 0) {
      Statement shaped = new Statement(session, statementId(), text, null);
      shaped.rows(given);
      Dialect.ask(house.shaper, shaped);
      rows = new Parcels(shaped.frame(), shaped.zone);
      made = session.createDataFrame(Collections.emptyList(), Parcels.SCHEMA);
    }
    if (made != given) {
      Fields.set(spark, this, field, made);
      Fields.set(spark, this, "dataTypes", types(made));
    }
    Fields.set(spark, this, "iter",
        new IterableFetchIterator(scala.jdk.javaapi.CollectionConverters.asScala(rows)));
  }

  private static Dataset asText(Dataset given) {
    StructField[] fields = given.schema().fields();
    String[] names = new String[fields.length];
    String[] chosen = new String[fields.length];
    boolean same = true;
    for (int i = 0; i < fields.length; i++) {
      names[i] = "c" + i; // a result's names may be any, and the same twice
      boolean known = !(fields[i].dataType() instanceof VariantType);
      same &= known;
      chosen[i] = (known ? names[i] : "CAST(" + names[i] + " AS STRING)")
          + " AS `" + fields[i].name().replace("`", "``") + "`";
    }
    return same ? given : given.toDF(names).selectExpr(chosen);
  }

  private static DataType[] types(Dataset rows) {
    DataType[] types = new DataType[rows.schema().fields().length];
    for (int i = 0; i < types.length; i++) {
      types[i] = rows.schema().fields()[i].dataType();
    }
    return types;
  }

  /** Spark calls this when the statement is cancelled or has run too long, and when it is closed. */
  public void cleanup() {
    if (statementId() != null) {
      session.sparkContext().cancelJobGroupAndFutureJobs(statementId()); // it may be between two jobs
    }
    house.stopper.accept(new Statement(session, statementId(), "", null));
    super.cleanup();
  }

  /** What the client is told of an error: ours as it is, Spark's in our words. */
  private Refusal clean(Throwable error) {
    Throwable cause = error;
    while (cause instanceof HiveSQLException && !(cause instanceof Refusal) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof Refusal) {
      return (Refusal) cause;
    }
    return house.told(isCanceled() // what was asked for then fails in many ways
        ? new Statement(session, statementId(), "cancelled", null) : new Statement(session, statementId(), text, cause));
  }
}
