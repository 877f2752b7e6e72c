package warehouse.endpoint;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hive.service.cli.CLIService;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.SessionHandle;
import org.apache.hive.service.rpc.thrift.TGetInfoReq;
import org.apache.hive.service.rpc.thrift.TGetInfoResp;
import org.apache.hive.service.rpc.thrift.TGetInfoType;
import org.apache.hive.service.rpc.thrift.TGetInfoValue;
import org.apache.hive.service.rpc.thrift.TStatus;
import org.apache.hive.service.rpc.thrift.TStatusCode;

/**
 * What GetInfo tells beside what Spark's service does (the server's and the product's names and version). An answer
 * without a value, as Hive gives it with an error, breaks the connection.
 *
 * Source: the values of SQLGetInfo in ODBC.
 */
class Facts {
  private static final Set SPARKS = new HashSet(Arrays.asList(new TGetInfoType[] {
    TGetInfoType.CLI_SERVER_NAME, TGetInfoType.CLI_DBMS_NAME, TGetInfoType.CLI_DBMS_VER}));

  private static final Map TOLD = new HashMap();

  private static final TGetInfoType[] UNBOUNDED = {
    TGetInfoType.CLI_MAX_COLUMN_NAME_LEN, TGetInfoType.CLI_MAX_SCHEMA_NAME_LEN, TGetInfoType.CLI_MAX_CATALOG_NAME_LEN,
    TGetInfoType.CLI_MAX_TABLE_NAME_LEN, TGetInfoType.CLI_MAX_IDENTIFIER_LEN, TGetInfoType.CLI_MAX_COLUMNS_IN_GROUP_BY,
    TGetInfoType.CLI_MAX_COLUMNS_IN_ORDER_BY, TGetInfoType.CLI_MAX_COLUMNS_IN_SELECT,
    TGetInfoType.CLI_MAX_COLUMNS_IN_TABLE, TGetInfoType.CLI_MAX_STATEMENT_LEN, TGetInfoType.CLI_MAX_TABLES_IN_SELECT,
    TGetInfoType.CLI_MAX_CONCURRENT_ACTIVITIES
  };

  static {
    TOLD.put(TGetInfoType.CLI_SEARCH_PATTERN_ESCAPE, TGetInfoValue.stringValue("\\"));
    TOLD.put(TGetInfoType.CLI_IDENTIFIER_QUOTE_CHAR, TGetInfoValue.stringValue("`"));
    TOLD.put(TGetInfoType.CLI_CATALOG_NAME, TGetInfoValue.stringValue("Y"));
    TOLD.put(TGetInfoType.CLI_ACCESSIBLE_TABLES, TGetInfoValue.stringValue("Y"));
    TOLD.put(TGetInfoType.CLI_DATA_SOURCE_READ_ONLY, TGetInfoValue.stringValue("N"));
    TOLD.put(TGetInfoType.CLI_DESCRIBE_PARAMETER, TGetInfoValue.stringValue("N"));
    TOLD.put(TGetInfoType.CLI_ORDER_BY_COLUMNS_IN_SELECT, TGetInfoValue.stringValue("N"));
    TOLD.put(TGetInfoType.CLI_INTEGRITY, TGetInfoValue.stringValue("N"));
    TOLD.put(TGetInfoType.CLI_IDENTIFIER_CASE, TGetInfoValue.smallIntValue((short) 4)); // kept, and not compared
    TOLD.put(TGetInfoType.CLI_TXN_CAPABLE, TGetInfoValue.smallIntValue((short) 0)); // none
    TOLD.put(TGetInfoType.CLI_NULL_COLLATION, TGetInfoValue.smallIntValue((short) 1)); // below all values
    for (int i = 0; i < UNBOUNDED.length; i++) {
      TOLD.put(UNBOUNDED[i], TGetInfoValue.smallIntValue((short) 0));
    }
  }

  /** What is asked for, or an error and an empty value; null for what Spark's service is to tell. */
  static TGetInfoResp told(House house, CLIService service, TGetInfoReq asked) {
    TGetInfoResp told = new TGetInfoResp();
    try {
      String user = service.getSessionManager().getSession(new SessionHandle(asked.getSessionHandle())).getUsername();
      if (SPARKS.contains(asked.getInfoType())) {
        return null;
      }
      TGetInfoValue value = TGetInfoType.CLI_USER_NAME.equals(asked.getInfoType())
          ? TGetInfoValue.stringValue(Ledger.name(user)) : (TGetInfoValue) TOLD.get(asked.getInfoType());
      if (value == null) {
        throw house.told(new Statement(null, "", "info " + asked.getInfoType(), null));
      }
      told.setInfoValue(value);
      told.setStatus(new TStatus(TStatusCode.SUCCESS_STATUS));
    } catch (HiveSQLException refusal) {
      told.setInfoValue(TGetInfoValue.stringValue(""));
      told.setStatus(refusal.toTStatus());
    }
    return told;
  }
}
