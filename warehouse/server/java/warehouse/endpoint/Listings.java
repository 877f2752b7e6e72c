package warehouse.endpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.OperationState;
import org.apache.hive.service.cli.RowSet;
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
  private static void fill(House house, SparkSession session, RowSet rows, String kind, Object[] asked) {
    try {
      String arguments = new ObjectMapper().writeValueAsString(asked);
      Statement statement = new Statement(session, kind, arguments, null);
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

  static class Catalogs extends SparkGetCatalogsOperation {
    private final House house;
    private final SparkSession own;

    Catalogs(House house, SparkSession session, HiveSession parent) {
      super(session, parent);
      this.house = house;
      this.own = session;
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      fill(house, own, rowSet, "catalogs", new Object[0]);
      setState(OperationState.FINISHED);
    }
  }

  static class Schemas extends SparkGetSchemasOperation {
    private final House house;
    private final SparkSession own;
    private final Object[] asked;

    Schemas(House house, SparkSession session, HiveSession parent, String catalog, String schema) {
      super(session, parent, catalog, schema);
      this.house = house;
      this.own = session;
      this.asked = new Object[] {catalog, schema};
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      fill(house, own, rowSet, "schemas", asked);
      setState(OperationState.FINISHED);
    }
  }

  static class Tables extends SparkGetTablesOperation {
    private final House house;
    private final SparkSession own;
    private final Object[] asked;

    Tables(House house, SparkSession session, HiveSession parent, String catalog, String schema, String table,
        List types) {
      super(session, parent, catalog, schema, table, types);
      this.house = house;
      this.own = session;
      this.asked = new Object[] {catalog, schema, table, types};
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      fill(house, own, rowSet, "tables", asked);
      setState(OperationState.FINISHED);
    }
  }

  static class TableTypes extends SparkGetTableTypesOperation {
    private final House house;
    private final SparkSession own;

    TableTypes(House house, SparkSession session, HiveSession parent) {
      super(session, parent);
      this.house = house;
      this.own = session;
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      fill(house, own, rowSet, "table_types", new Object[0]);
      setState(OperationState.FINISHED);
    }
  }

  static class Columns extends SparkGetColumnsOperation {
    private final House house;
    private final SparkSession own;
    private final Object[] asked;

    Columns(House house, SparkSession session, HiveSession parent, String catalog, String schema, String table,
        String column) {
      super(session, parent, catalog, schema, table, column);
      this.house = house;
      this.own = session;
      this.asked = new Object[] {catalog, schema, table, column};
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      fill(house, own, rowSet, "columns", asked);
      setState(OperationState.FINISHED);
    }
  }

  static class Functions extends SparkGetFunctionsOperation {
    private final House house;
    private final SparkSession own;
    private final Object[] asked;

    Functions(House house, SparkSession session, HiveSession parent, String catalog, String schema, String function) {
      super(session, parent, catalog, schema, function);
      this.house = house;
      this.own = session;
      this.asked = new Object[] {catalog, schema, function};
    }

    public void runInternal() throws HiveSQLException {
      setState(OperationState.RUNNING);
      fill(house, own, rowSet, "functions", asked);
      setState(OperationState.FINISHED);
    }
  }
}
