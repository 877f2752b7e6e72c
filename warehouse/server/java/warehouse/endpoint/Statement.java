package warehouse.endpoint;

import org.apache.hadoop.hive.ql.session.OperationLog;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** One text on its way through Python: what is asked, and what Python answered by calling one of the methods below. */
public class Statement {
  private final SparkSession session;
  private final String id;
  private final String text;
  private final Throwable failure;
  private Dataset frame;
  private final OperationLog log = OperationLog.getCurrentOperationLog();

  String rewritten;
  String[] columns;
  boolean unknown;
  LogicalPlan plan;
  String rows;
  String zone;
  String refusal;
  String state;

  public Statement(SparkSession session, String id, String text, Throwable failure) {
    this.session = session;
    this.id = id;
    this.text = text;
    this.failure = failure;
  }

  public SparkSession session() {
    return session;
  }

  public String id() {
    return id;
  }

  public String text() {
    return text;
  }

  /** What Spark raised, when Python is asked to say it in our words. */
  public Throwable failure() {
    return failure;
  }

  /** The rows that Python is asked to give types that Arrow knows, and then those that have them. */
  public Dataset frame() {
    return frame;
  }

  void rows(Dataset given) {
    this.frame = given;
  }

  /** The rows have such types now, and their instants this time zone. */
  public void shaped(Dataset rows, String zone) {
    this.frame = rows;
    this.zone = zone;
  }

  /** The text that Spark is to read instead. */
  public void rewrite(String other) {
    this.rewritten = other;
  }

  /** The statement acts when it is executed and gives rows of strings in these columns, one name a line. */
  public void acts(String names) {
    this.columns = names.isEmpty() ? new String[0] : names.split("\n");
  }

  /** The statement acts before its columns are known. */
  public void begins() {
    this.unknown = true;
  }

  /** It has acted: what is left to be done for its rows. */
  public void gives(LogicalPlan rest) {
    this.plan = rest;
  }

  /** A line for the log that the client may read while the statement runs. */
  public void say(String line) {
    if (log != null) {
      log.writeOperationLog(line + "\n");
    }
  }

  /** It has acted: the rows as a JSON array of arrays of strings. */
  public void done(String json) {
    this.rows = json;
  }

  public void refuse(String rendered, String sqlState) {
    this.refusal = rendered;
    this.state = sqlState;
  }
}
