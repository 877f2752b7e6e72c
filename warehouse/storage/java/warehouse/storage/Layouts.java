package warehouse.storage;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.Snapshot;
import scala.Option;
import scala.collection.mutable.Buffer;
import scala.runtime.AbstractFunction1;

/** How the tables of a warehouse are distributed, as far as it was verified; what Python asks of Delta's log. */
public class Layouts {
  /** Settings of a session; both are on unless it says false. */
  static final String PRUNING = "warehouse.pruning";
  static final String DISTRIBUTION = "warehouse.distribution";

  /** By the paths of the tables, whatever warehouse of this process they belong to. */
  private static final Map KNOWN = new ConcurrentHashMap();

  static boolean on(SparkSession session, String setting) {
    return !"false".equalsIgnoreCase(
        ((org.apache.spark.sql.classic.SparkSession) session).sessionState().conf().getConfString(setting, "true"));
  }

  static Layout of(String path) {
    return (Layout) KNOWN.get(path);
  }

  /** Rows of version `version` of the table that Delta knows as `id` are where their keys say if `holds`. */
  public void remember(String path, String id, long version, boolean holds, List keys, int partitions) {
    KNOWN.put(path, new Layout(id, version, holds, keys, partitions));
  }

  /** Whether each row of a table, as it stands, was seen to be where its keys say. */
  public boolean holds(SparkSession session, String path) {
    Layout found = of(path);
    return found != null && found.holdsFor(snapshot(session, path));
  }

  /**
   * Let all sessions that share the extensions of this one plan their scans here, once. Rules and strategies are
   * asked in the order in which they came, and Delta's own, which choose the files and plan every scan of a Delta
   * table, were first; there is no way but reflection to come before them.
   */
  public void install(SparkSession session) throws Exception {
    Object extensions = ((org.apache.spark.sql.classic.SparkSession) session).extensions();
    Buffer strategies = builders(extensions, "plannerStrategyBuilders");
    if (strategies.isEmpty() || !(strategies.apply(0) instanceof Planner)) {
      strategies.insert(0, new Planner());
      Buffer rules = builders(extensions, "preCBORules");
      rules.insert(0, new Pieces());
      rules.insert(1, new Sizes());
      rules.insert(2, new Listing());
      rules.insert(3, new Remembering());
      rules.addOne(new Summing());
      rules.addOne(new Marker());
      rules.addOne(new Caution());
      ((SparkSessionExtensions) extensions).injectPostHocResolutionRule(new Gatherer());
      ((SparkSessionExtensions) extensions).injectQueryStagePrepRule(new Choosing());
      ((SparkSessionExtensions) extensions).injectQueryStageOptimizerRule(new Loaded());
      ((SparkSessionExtensions) extensions).injectColumnar(new ChoosingAtOnce());
    }
  }

  private static Buffer builders(Object extensions, String name) throws Exception {
    Field field = SparkSessionExtensions.class.getDeclaredField(name);
    field.setAccessible(true);
    return (Buffer) field.get(extensions);
  }

  /** Makes the strategy of a session. */
  private static final class Planner extends AbstractFunction1 {
    public Object apply(Object session) {
      return new Scans((SparkSession) session);
    }
  }

  /** Makes the rule of a session that asks of a text what is cheap first. */
  private static final class Pieces extends AbstractFunction1 {
    public Object apply(Object session) {
      return new PiecesOfLike();
    }
  }

  /** Makes the rule of a session that knows how large tables are. */
  private static final class Sizes extends AbstractFunction1 {
    public Object apply(Object session) {
      return new CurrentSizes();
    }
  }

  /** Makes the rule of a session that is asked before Delta chooses files. */
  private static final class Listing extends AbstractFunction1 {
    public Object apply(Object session) {
      return new FewFiles((SparkSession) session);
    }
  }

  /** Makes the rule of a session that knows how large tables in memory are. */
  private static final class Remembering extends AbstractFunction1 {
    public Object apply(Object session) {
      return new SizesInMemory((SparkSession) session);
    }
  }

  /** Makes the rule of a session that is asked once the files are chosen. */
  private static final class Summing extends AbstractFunction1 {
    public Object apply(Object session) {
      return new WholeSums((SparkSession) session);
    }
  }

  /** Makes the rule of a session that looks at what is written by keys. */
  private static final class Marker extends AbstractFunction1 {
    public Object apply(Object session) {
      return new Written();
    }
  }

  /** Makes the rule of a session that keeps conditions from readers, once these were used to choose files. */
  private static final class Caution extends AbstractFunction1 {
    public Object apply(Object session) {
      return new Careful();
    }
  }

  /** Makes the rule of a session that makes Delta's statistics cheaper. */
  private static final class Gatherer extends AbstractFunction1 {
    public Object apply(Object session) {
      return new Gathering((SparkSession) session);
    }
  }

  /** Makes the rule of a session that chooses partitions in memory. */
  private static final class Choosing extends AbstractFunction1 {
    public Object apply(Object session) {
      return new MemoryScans((SparkSession) session);
    }
  }

  /** Makes the rule of a session that reads partitions in memory once they are there. */
  private static final class Loaded extends AbstractFunction1 {
    public Object apply(Object session) {
      return new LoadedTables();
    }
  }

  /** Makes the rule that chooses partitions in memory for plans that do not adapt. */
  private static final class ChoosingAtOnce extends AbstractFunction1 {
    public Object apply(Object session) {
      return MemoryScans.columnar((SparkSession) session);
    }
  }

  /** Let tasks gather Delta's statistics and fill memory in our way: they were given the classes. */
  public void gather() {
    Gathering.ready = true;
    Packers.use();
  }

  /** A table as it stands. */
  public Look look(SparkSession session, String path) {
    return new Look(snapshot(session, path));
  }

  /** Let the log of a table begin anew if it has so many commits since it did; return Delta's own name of the table. */
  public String checkpoint(SparkSession session, String path, int commits) {
    Snapshot snapshot = snapshot(session, path);
    if (snapshot.version() - snapshot.logSegment().checkpointProvider().version() >= commits) {
      snapshot.deltaLog().checkpoint(snapshot, Option.empty());
    }
    return snapshot.metadata().id();
  }

  /** Let what this thread writes be written as its table is kept, until it is told to end. */
  public Writings writing(boolean remembers, List keys, int partitions) {
    return Writings.begin(remembers, new ArrayList(keys), partitions);
  }

  /** Begin to write some files of a table anew. */
  public Rewriting rewriting(SparkSession session, String path) {
    snapshot(session, path);
    return new Rewriting(DeltaLog.forTable(session, path));
  }

  /** Let a temporary view tell what is in the partitions of a table as it stands. */
  public void statistics(SparkSession session, String path, String view, boolean distributed) throws Exception {
    Statistics.view(session, snapshot(session, path), view, distributed);
  }

  /** Let a temporary view tell what the rows of a table take in the columnar memory store. */
  public void cached(SparkSession session, Dataset table, String view) {
    Cached.view(session, table, view);
  }

  private static Snapshot snapshot(SparkSession session, String path) {
    DeltaLog log = DeltaLog.forTable(session, path);
    return log.update(log.update$default$1(), log.update$default$2(), log.update$default$3());
  }
}
