package warehouse.storage.tasks;

import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.delta.stats.DeltaFileStatistics;
import org.apache.spark.sql.delta.stats.DeltaJobStatisticsTracker;
import org.apache.spark.sql.delta.stats.DeltaTaskStatisticsTracker;
import org.apache.spark.sql.execution.datasources.WriteTaskStatsTracker;
import org.apache.spark.util.SerializableConfiguration;
import scala.collection.immutable.Seq;

/** Who gathers the statistics of files while they are written packs their rows for memory as well. */
public final class Remembering extends DeltaJobStatisticsTracker {
  private final Packing packing;
  private final String root;
  private final SerializableConfiguration configuration;

  /** The same as one that Delta has made, for files under a path. */
  public Remembering(DeltaJobStatisticsTracker made, Packing packing, Path root, Configuration configuration) {
    super(configuration, root, made.dataCols(), made.statsColExpr());
    this.packing = packing;
    this.root = root.toString();
    this.configuration = new SerializableConfiguration(configuration);
  }

  public WriteTaskStatsTracker newTaskInstance() {
    return new Task(packing, dataCols(), prepareForEval(statsColExpr()), new Path(root), configuration.value());
  }

  private static final class Task extends DeltaTaskStatisticsTracker {
    private final Packing packing;
    private final Map files = new HashMap();
    private String last;
    private File file;

    Task(Packing packing, Seq columns, Expression statistics, Path root, Configuration configuration) {
      super(columns, statistics, root, configuration);
      this.packing = packing;
    }

    public void newFile(String path) {
      super.newFile(path);
      files.put(path, new File(packing.batch()));
    }

    public void newRow(String path, InternalRow row) {
      super.newRow(path, row);
      if (!path.equals(last)) {
        last = path;
        file = (File) files.get(path);
      }
      file.take(row);
    }

    public void closeFile(String path) {
      super.closeFile(path);
      end(path);
    }

    private void end(String path) {
      File ended = (File) files.remove(path);
      String key = ended == null ? null : FilesInMemory.key(path, packing.layout());
      if (key != null) {
        FilesInMemory.keep(key, ended.batches());
      }
    }

    public DeltaFileStatistics getFinalStats(long time) {
      List open = new ArrayList(files.keySet());
      for (int i = 0; i < open.size(); i++) {
        end((String) open.get(i));
      }
      return super.getFinalStats(time);
    }
  }

  /** A file that is being written. */
  private static final class File {
    private final BatchToPack batch;
    private final List packed = new ArrayList();

    File(BatchToPack batch) {
      this.batch = batch;
    }

    void take(InternalRow row) {
      batch.take(row);
      if (batch.isFull()) {
        packed.add(new SoftReference(batch.packed()));
      }
    }

    List batches() {
      if (!batch.isEmpty()) {
        packed.add(new SoftReference(batch.packed()));
      }
      return packed;
    }
  }
}
