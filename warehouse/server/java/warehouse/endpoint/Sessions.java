package warehouse.endpoint;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.SessionHandle;
import org.apache.hive.service.cli.session.SessionManager;
import org.apache.hive.service.rpc.thrift.TProtocolVersion;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.unsafe.Platform;

/**
 * The Spark sessions of an endpoint by handle. Spark's manager puts each here as it opens and takes it out as it
 * closes: the one place in its way where a session can be told how to begin, and where one too many can be refused.
 */
class Sessions extends ConcurrentHashMap {
  private final House house;
  private final SessionManager manager;
  private final Operations operations;
  private final Map pools = new ConcurrentHashMap();

  Sessions(House house, SessionManager manager, Operations operations) {
    this.house = house;
    this.manager = manager;
    this.operations = operations;
  }

  public Object put(Object handle, Object session) {
    super.put(handle, session);
    begin((SessionHandle) handle, (SparkSession) session);
    return null;
  }

  public Object remove(Object handle) {
    Integer pool = (Integer) pools.remove(handle);
    if (pool != null) {
      house.givePool(pool.intValue());
    }
    Object session = super.remove(handle);
    if (session != null) {
      operations.cancel((SessionHandle) handle);
      house.stopper.accept(new Statement((SparkSession) session, "", "", null));
    }
    return session;
  }

  private void begin(SessionHandle handle, SparkSession session) {
    try {
      String user = Ledger.name(manager.getSession(handle).getUsername());
      try {
        // The ledger knows of this one by now.
        house.check("sessions", house.ledger.sessions() - 1, user);
        house.check("sessions_per_user", house.ledger.sessionsOf(user) - 1, user);
      } catch (HiveSQLException refusal) {
        manager.closeSession(handle);
        throw refusal;
      }
    } catch (HiveSQLException refusal) {
      Platform.throwException(refusal);
    }
    boolean old = handle.getProtocolVersion() == TProtocolVersion.HIVE_CLI_SERVICE_PROTOCOL_V6; // PyHive, impyla
    if (old && !session.conf().contains(Parcels.ASKED)) {
      session.conf().set(Dialect.HIVE_LISTING, "true");
    }
    Integer pool = Integer.valueOf(house.takePool());
    pools.put(handle, pool);
    String name = "session-" + pool;
    session.conf().set("spark.sql.thriftserver.scheduler.pool", name);
    if (house.turns != null) {
      house.turns.pool(name);
    }
    for (Iterator each = house.settings.entrySet().iterator(); each.hasNext();) {
      Map.Entry entry = (Map.Entry) each.next();
      session.conf().set((String) entry.getKey(), (String) entry.getValue());
    }
    Dialect.ask(house.greeter, new Statement(session, "", "", null));
  }
}
