package warehouse.endpoint;

import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.Collections;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.rpc.thrift.TStatus;
import org.apache.hive.service.rpc.thrift.TStatusCode;

/** An error as its user reads it: a text, an SQLSTATE, and no stack of ours, which Hive would otherwise print to the client. */
public class Refusal extends HiveSQLException {
  public Refusal(String text, String state) {
    super(text, state);
  }

  public Throwable fillInStackTrace() {
    return this;
  }

  public String toString() {
    return getMessage();
  }

  public void printStackTrace(PrintWriter writer) {
    writer.print(getMessage());
  }

  public void printStackTrace(PrintStream stream) {
    stream.print(getMessage());
  }

  public TStatus toTStatus() {
    TStatus status = new TStatus(TStatusCode.ERROR_STATUS);
    status.setSqlState(getSQLState());
    status.setErrorCode(getErrorCode());
    status.setErrorMessage(getMessage());
    status.setInfoMessages(Collections.singletonList(getMessage()));
    return status;
  }
}
