package warehouse.endpoint;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.ql.metadata.Hive;
import org.apache.hive.service.cli.session.SessionManager;
import org.apache.hive.service.cli.thrift.ThriftCLIService;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalog;
import org.apache.spark.sql.hive.HiveExternalCatalog;
import org.apache.spark.sql.hive.client.HiveClientImpl;
import org.apache.spark.sql.hive.thriftserver.HiveThriftServer2;
import org.apache.spark.sql.hive.thriftserver.SparkSQLCLIService;
import org.apache.spark.sql.hive.thriftserver.SparkSQLSessionManager;

/** Spark's Thrift server for one transport, put together from its parts and some of ours. */
public class Endpoint {
  private final SparkSQLCLIService service;
  private final ThriftCLIService transport;
  private final Operations operations;

  Endpoint(House house, Map settings, String chain, String key) throws Exception {
    HiveConf conf = new HiveConf(catalogConf(house.root));
    for (Iterator each = settings.entrySet().iterator(); each.hasNext();) {
      Map.Entry entry = (Map.Entry) each.next();
      conf.set((String) entry.getKey(), (String) entry.getValue());
    }
    HiveThriftServer2.systemExitOnError().set(false);
    withoutHivesFunctions();
    service = new SparkSQLCLIService(new HiveThriftServer2(house.root), house.root);
    service.init(conf);
    SessionManager manager = service.getSessionManager();
    operations = new Operations(house, manager);
    Fields.set(SessionManager.class, manager, "operationManager", operations);
    Fields.set(SparkSQLSessionManager.class, manager, "sparkSqlOperationManager", operations);
    Fields.set(SparkSQLSessionManager.class, manager, "bitmap$0", Boolean.TRUE);
    SSLContext tls = chain == null ? null : Tls.context(chain, key);
    if ("http".equals(conf.get("hive.server2.transport.mode"))) {
      transport = new Http(house, service, tls);
    } else {
      transport = new Binary(house, service, tls);
    }
    transport.init(conf);
  }

  /**
   * The settings of Spark's own catalog. Hive's sessions tidy the metastore of theirs as they close; were it another
   * one, each would set it up first, and take the catalog's connections down with it.
   */
  private static HiveConf catalogConf(SparkSession root) {
    ExternalCatalog catalog = root.sharedState().externalCatalog().unwrapped();
    return ((HiveClientImpl) ((HiveExternalCatalog) catalog).client()).conf();
  }

  /**
   * A session of Hive's that closes may look at the metastore in a thread of its own, and would first register Hive's
   * functions there: an Error, since Spark comes without some of their classes, and the client's connection would break
   * off. Nobody asks for them, so Hive is told that they are (2).
   */
  private static void withoutHivesFunctions() throws Exception {
    ((AtomicInteger) Fields.get(Hive.class, null, "didRegisterAllFuncs")).set(2);
  }

  public void start() {
    service.start();
    transport.start();
  }

  public int port() {
    return transport.getPortNumber();
  }

  public int sessions() {
    return service.getSessionManager().getOpenSessionCount();
  }

  /** Listen no more, and break off what runs. */
  public void stop() {
    transport.stop();
    operations.cancel(null);
    service.stop();
  }
}
