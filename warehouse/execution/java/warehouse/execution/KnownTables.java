package warehouse.execution;

import java.lang.reflect.Field;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
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

/**
 * Keeps what the catalog says of tables until something in it changes. Hive's metastore asks its database a dozen
 * questions for each table of each statement, though no other process than this one can change an answer, and every
 * change is told to the catalog's listeners, before and after. (Hive notes the size of its own tables without a word.)
 */
public final class KnownTables {
  private static final String SERVERS = "hive.metastore.uris";

  /**
   * Let a session, and all that come from it, have such a catalog; to be called before it has done anything. What a
   * server keeps has other users, and is asked each time.
   */
  public void install(SparkSession session) throws ReflectiveOperationException {
    if (session.sparkContext().hadoopConfiguration().get(SERVERS, "").isEmpty()) {
      Field place = SparkSession.class.getDeclaredField("existingSharedState");
      place.setAccessible(true);
      place.set(session, new Some(new Shared(session.sparkContext())));
    }
  }

  /** What sessions share; the catalog's database is opened by whoever is the first to ask it. */
  private static final class Shared extends SharedState {
    private ExternalCatalogWithListener keeping;

    Shared(SparkContext context) {
      super(context, (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$.empty());
    }

    public synchronized ExternalCatalogWithListener externalCatalog() {
      if (keeping == null) {
        keeping = new Keeping(super.externalCatalog());
      }
      return keeping;
    }
  }

  private static final class Keeping extends ExternalCatalogWithListener {
    private final ExternalCatalogWithListener all;
    private final Map tables = new ConcurrentHashMap();
    private final AtomicLong changes = new AtomicLong();

    Keeping(ExternalCatalogWithListener all) {
      super(all);
      this.all = all;
      addListener(new Changes(tables, changes));
    }

    public CatalogTable getTable(String database, String name) {
      String key = key(database, name);
      CatalogTable known = (CatalogTable) tables.get(key);
      if (known != null) {
        return known;
      }
      long before = changes.get();
      CatalogTable found = all.getTable(database, name);
      if (!found.provider().contains("hive")) {
        tables.put(key, found);
      }
      if (changes.get() != before) {  // it may be what was there before the change
        tables.remove(key, found);
      }
      return found;
    }

    public boolean tableExists(String database, String name) {
      return tables.containsKey(key(database, name)) || all.tableExists(database, name);
    }

    public ExternalCatalog unwrapped() {
      return all.unwrapped();
    }

  }

  private static final class Changes implements ExternalCatalogEventListener {
    private final Map tables;
    private final AtomicLong changes;

    Changes(Map tables, AtomicLong changes) {
      this.tables = tables;
      this.changes = changes;
    }

    public void onEvent(ExternalCatalogEvent event) {
      changes.incrementAndGet();
      if (event instanceof RenameTablePreEvent || event instanceof RenameTableEvent || !(event instanceof TableEvent)) {
        tables.clear();
      } else {
        tables.remove(key(((TableEvent) event).database(), ((TableEvent) event).name()));
      }
    }
  }

  /** No name has a line break. */
  private static String key(String database, String name) {
    return (database + "\n" + name).toLowerCase(Locale.ROOT);
  }
}
