package warehouse.endpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.OperationState;
import org.apache.hive.service.cli.RowSet;
import org.apache.hive.service.cli.operation.GetCrossReferenceOperation;
import org.apache.hive.service.cli.operation.GetPrimaryKeysOperation;
import org.apache.hive.service.cli.session.HiveSession;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.hive.thriftserver.SparkGetCatalogsOperation;
import org.apache.spark.sql.hive.thriftserver.SparkGetColumnsOperation;
import org.apache.spark.sql.hive.thriftserver.SparkGetFunctionsOperation;
import org.apache.spark.sql.hive.thriftserver.SparkGetSchemasOperation;
import org.apache.spark.sql.hive.thriftserver.SparkGetTableTypesOperation;
import org.apache.spark.sql.hive.thriftserver.SparkGetTablesOperation;
import org.apache.spark.unsafe.Platform;

/** What there is, as tools ask for it: Spark's operations with their columns, and rows that Python gives. */
class Listings {
  /** What is asked of Python for one listing. */
  static class Asked {
    private final House house;
    private final SparkSession session;
    private final String kind;
    private final Object[] patterns;

    Asked(House house, SparkSession session, String kind, Object[] patterns) {
      this.house = house;
      this.session = session;
      this.kind = kind;
      this.patterns = patterns;
    }

    void into(RowSet rows) {
      try {
        Statement statement = new Statement(session, kind, new ObjectMapper().writeValueAsString(patterns), null);
        Dialect.ask(house.lister, statement);
        JsonNode given = new ObjectMapper().readTree(statement.rows);
        for (int i = 0; i < given.size(); i++) {
          JsonNode cells = (JsonNode) given.get(i);
          Object[] row = new Object[cells.size()];
          for (int j = 0; j < row.length; j++) {
            JsonNode cell = (JsonNode) cells.get(j);
            row[j] = cell.isNull() ? null : cell.isInt() ? (Object) Integer.valueOf(cell.intValue()) : cell.textValue();
          }
          rows.addRow(row);
        }
      } catch (Exception error) {
        Platform.throwException((Object) error instanceof Refusal ? error : new Refusal("[WAREHOUSE_INTERNAL] " + kind + " cannot be listed: " + error + " SQLSTATE: XX000", "XX000"));
      }
    }
  }

  static class Catalogs extends SparkGetCatalogsOperation {
    private final Asked asked;

    Catalogs(House house, SparkSession session, HiveSession parent) {
      super(session, parent);
      this.asked = new Asked(house, session, "catalogs", new Object[0]);
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      asked.into(rowSet);
      setState(OperationState.FINISHED);
    }
  }

  static class Schemas extends SparkGetSchemasOperation {
    private final Asked asked;

    Schemas(House house, SparkSession session, HiveSession parent, String catalog, String schema) {
      super(session, parent, catalog, schema);
      this.asked = new Asked(house, session, "schemas", new Object[] {catalog, schema});
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      asked.into(rowSet);
      setState(OperationState.FINISHED);
    }
  }

  static class Tables extends SparkGetTablesOperation {
    private final Asked asked;

    Tables(House house, SparkSession session, HiveSession parent, String catalog, String schema, String table,
        List types) {
      super(session, parent, catalog, schema, table, types);
      this.asked = new Asked(house, session, "tables", new Object[] {catalog, schema, table, types});
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      asked.into(rowSet);
      setState(OperationState.FINISHED);
    }
  }

  static class TableTypes extends SparkGetTableTypesOperation {
    private final Asked asked;

    TableTypes(House house, SparkSession session, HiveSession parent) {
      super(session, parent);
      this.asked = new Asked(house, session, "table_types", new Object[0]);
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      asked.into(rowSet);
      setState(OperationState.FINISHED);
    }
  }

  static class Columns extends SparkGetColumnsOperation {
    private final Asked asked;

    Columns(House house, SparkSession session, HiveSession parent, String catalog, String schema, String table,
        String column) {
      super(session, parent, catalog, schema, table, column);
      this.asked = new Asked(house, session, "columns", new Object[] {catalog, schema, table, column});
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      asked.into(rowSet);
      setState(OperationState.FINISHED);
    }
  }

  static class Functions extends SparkGetFunctionsOperation {
    private final Asked asked;

    Functions(House house, SparkSession session, HiveSession parent, String catalog, String schema, String function) {
      super(session, parent, catalog, schema, function);
      this.asked = new Asked(house, session, "functions", new Object[] {catalog, schema, function});
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      asked.into(rowSet);
      setState(OperationState.FINISHED);
    }
  }

  /** There are no keys, and so none that refer to others; Hive would ask the metastore, by a name that may be missing. */
  static class Keys extends GetPrimaryKeysOperation {
    Keys(HiveSession parent, String catalog, String schema, String table) {
      super(parent, catalog, schema, table);
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      setState(OperationState.FINISHED);
    }
  }

  static class References extends GetCrossReferenceOperation {
    References(HiveSession parent, String catalog, String schema, String table, String otherCatalog, String otherSchema,
        String otherTable) {
      super(parent, catalog, schema, table, otherCatalog, otherSchema, otherTable);
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      setState(OperationState.FINISHED);
    }
  }
}
