package warehouse.execution;

import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalog;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogEvent;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogEventListener;
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogWithListener;
import org.apache.spark.sql.catalyst.catalog.RenameTableEvent;
import org.apache.spark.sql.catalyst.catalog.RenameTablePreEvent;
import org.apache.spark.sql.catalyst.catalog.TableEvent;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SharedState;
import scala.Some;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractFunction1;

/**
 * Keeps what the catalog says of tables until something in it changes. Hive's metastore asks its database
 * question after question for each table of each statement, though no other process than this one can change an answer,
 * and every change is told to the catalog's listeners, before and after. (Hive notes the size of its own tables without
 * a word.)
 */
public final class KnownTables {
  private static final String SERVERS = "hive.metastore.uris";

  /**
   * Let a session, and all that come from it, have such a catalog; to be called before it has done anything. What a
   * server keeps has other users, and is asked each time.
   *
   * @param hidden a schema that is in no list
   */
  public void install(SparkSession session, String hidden) throws ReflectiveOperationException {
    if (session.sparkContext().hadoopConfiguration().get(SERVERS, "").isEmpty()) {
      Field place = SparkSession.class.getDeclaredField("existingSharedState");
      place.setAccessible(true);
      place.set(session, new Some(new Shared(session.sparkContext(), hidden)));
    }
  }

  /** What sessions share; the catalog's database is opened by whoever is the first to ask it. */
  private static final class Shared extends SharedState {
    private final String hidden;
    private ExternalCatalogWithListener keeping;

    Shared(SparkContext context, String hidden) {
      super(context, (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty());
      this.hidden = hidden;
    }

    public synchronized ExternalCatalogWithListener externalCatalog() {
      if (keeping == null) {
        keeping = new Keeping(super.externalCatalog(), hidden);
      }
      return keeping;
    }
  }

  private static final class Keeping extends ExternalCatalogWithListener {
    private final ExternalCatalogWithListener all;
    private final String hidden;
    private final Known known = new Known();

    Keeping(ExternalCatalogWithListener all, String hidden) {
      super(all);
      this.all = all;
      this.hidden = hidden;
      addListener(known);
    }

    public CatalogTable getTable(String database, String name) {
      CatalogTable table = known.get(database, name);
      if (table == null) {
        long since = known.changes();
        table = all.getTable(database, name);
        known.put(database, name, table, since);
      }
      return table;
    }

    public boolean tableExists(String database, String name) {
      return known.get(database, name) != null || all.tableExists(database, name);
    }

    public Seq listDatabases() {
      return shown(all.listDatabases());
    }

    public Seq listDatabases(String pattern) {
      return shown(all.listDatabases(pattern));
    }

    Seq shown(Seq names) {
      return (Seq) names.filterNot(new AbstractFunction1() {
        public Object apply(Object name) {
          return Boolean.valueOf(hidden.equals(name));
        }
      });
    }

    public ExternalCatalog unwrapped() {
      return all.unwrapped();
    }
  }

  /** The tables that were asked for since they changed. */
  private static final class Known implements ExternalCatalogEventListener {
    private static final int MOST = 10000;

    private final Map tables = new HashMap();
    private long changes;

    synchronized CatalogTable get(String database, String name) {
      return (CatalogTable) tables.get(key(database, name));
    }

    /** How often something was about to change, or had. */
    synchronized long changes() {
      return changes;
    }

    /** Keep a table, unless something changed since it was asked for. */
    synchronized void put(String database, String name, CatalogTable table, long since) {
      if (changes == since && !table.provider().contains("hive")) {
        if (tables.size() >= MOST) {
          tables.clear();
        }
        tables.put(key(database, name), table);
      }
    }

    public synchronized void onEvent(ExternalCatalogEvent event) {
      changes++;
      if (event instanceof RenameTablePreEvent || event instanceof RenameTableEvent || !(event instanceof TableEvent)) {
        tables.clear();
      } else {
        tables.remove(key(((TableEvent) event).database(), ((TableEvent) event).name()));
      }
    }

    /** No name has a line break. */
    private static String key(String database, String name) {
      return (database + "\n" + name).toLowerCase(Locale.ROOT);
    }
  }
}
