package warehouse.endpoint;

import java.util.List;
import java.util.Map;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.SessionHandle;
import org.apache.hive.service.cli.operation.ExecuteStatementOperation;
import org.apache.hive.service.cli.operation.GetCatalogsOperation;
import org.apache.hive.service.cli.operation.GetColumnsOperation;
import org.apache.hive.service.cli.operation.GetCrossReferenceOperation;
import org.apache.hive.service.cli.operation.GetFunctionsOperation;
import org.apache.hive.service.cli.operation.GetPrimaryKeysOperation;
import org.apache.hive.service.cli.operation.GetSchemasOperation;
import org.apache.hive.service.cli.operation.GetTableTypesOperation;
import org.apache.hive.service.cli.operation.MetadataOperation;
import org.apache.hive.service.cli.operation.Operation;
import org.apache.hive.service.cli.operation.OperationManager;
import org.apache.hive.service.cli.session.HiveSession;
import org.apache.hive.service.cli.session.SessionManager;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.hive.thriftserver.server.SparkSQLOperationManager;
import org.apache.spark.unsafe.Platform;

/** Makes the operations of all sessions of an endpoint. */
public class Operations extends SparkSQLOperationManager {
  private final House house;

  Operations(House house, SessionManager manager) throws Exception {
    this.house = house;
    // Spark's class looks for its parent's map one class too low when it is itself extended.
    Fields.set(SparkSQLOperationManager.class, this, "handleToOperation",
        Fields.get(OperationManager.class, this, "handleToOperation"));
    Fields.set(SparkSQLOperationManager.class, this, "sessionToContexts", new Sessions(house, manager, this));
  }

  public synchronized ExecuteStatementOperation newExecuteStatementOperation(
      HiveSession parent, String text, Map overlay, boolean async, long timeout) {
    SparkSession session = session(parent);
    String user = Ledger.name(parent.getUsername());
    try {
      house.check("statements", house.ledger.statements(), user);
      house.check("statements_per_user", house.ledger.statementsOf(user), user);
    } catch (HiveSQLException refusal) {
      Platform.throwException(refusal);
    }
    Execution execution = new Execution(house, session, parent, text, overlay, async, timeout);
    return (ExecuteStatementOperation) kept(execution);
  }

  public GetCatalogsOperation newGetCatalogsOperation(HiveSession parent) {
    return (GetCatalogsOperation) kept(new Listings.Catalogs(house, session(parent), parent));
  }

  public GetSchemasOperation newGetSchemasOperation(HiveSession parent, String catalog, String schema) {
    return (GetSchemasOperation) kept(new Listings.Schemas(house, session(parent), parent, catalog, schema));
  }

  public MetadataOperation newGetTablesOperation(
      HiveSession parent, String catalog, String schema, String table, List types) {
    return (MetadataOperation) kept(new Listings.Tables(house, session(parent), parent, catalog, schema, table, types));
  }

  public GetTableTypesOperation newGetTableTypesOperation(HiveSession parent) {
    return (GetTableTypesOperation) kept(new Listings.TableTypes(house, session(parent), parent));
  }

  public GetColumnsOperation newGetColumnsOperation(
      HiveSession parent, String catalog, String schema, String table, String column) {
    return (GetColumnsOperation) kept(
        new Listings.Columns(house, session(parent), parent, catalog, schema, table, column));
  }

  public GetFunctionsOperation newGetFunctionsOperation(
      HiveSession parent, String catalog, String schema, String function) {
    return (GetFunctionsOperation) kept(
        new Listings.Functions(house, session(parent), parent, catalog, schema, function));
  }

  public GetPrimaryKeysOperation newGetPrimaryKeysOperation(
      HiveSession parent, String catalog, String schema, String table) {
    return (GetPrimaryKeysOperation) kept(new Listings.Keys(parent, catalog, schema, table));
  }

  public GetCrossReferenceOperation newGetCrossReferenceOperation(
      HiveSession parent, String catalog, String schema, String table, String otherCatalog, String otherSchema,
      String otherTable) {
    return (GetCrossReferenceOperation) kept(
        new Listings.References(parent, catalog, schema, table, otherCatalog, otherSchema, otherTable));
  }

  /** All sessions share the map, which is guarded by this object; not private, or Janino would lock the class. */
  synchronized Operation kept(Operation operation) {
    handleToOperation().put(operation.getHandle(), operation);
    return operation;
  }

  /** Cancel what runs in a session, or in all of them for null: Hive's sessions do not know what they run in the front. */
  void cancel(SessionHandle session) {
    Object[] all;
    synchronized (this) {
      all = handleToOperation().values().toArray();
    }
    for (int i = 0; i < all.length; i++) {
      Operation operation = (Operation) all[i];
      boolean meant = session == null || session.equals(operation.getParentSession().getSessionHandle());
      if (meant && operation instanceof Execution) {
        ((Execution) operation).cancel();
      }
    }
  }

  private SparkSession session(HiveSession parent) {
    SparkSession session = (SparkSession) sessionToContexts().get(parent.getSessionHandle());
    if (session == null) {
      throw new IllegalStateException("the session is closed");
    }
    return session;
  }
}
