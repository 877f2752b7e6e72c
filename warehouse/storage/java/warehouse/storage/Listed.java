package warehouse.storage;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.VersionChecksum;
import org.apache.spark.sql.delta.actions.AddFile;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * The files of a version of a table. The checksum file that Delta writes with a commit names them where there are few
 * (allFilesInCrc.thresholdNumFiles); for others Delta replays the log in Spark jobs, here once for a version.
 */
final class Listed {
  /** Of more files than this Delta's own job is worth its start. */
  private static final int FEW = 256;

  /** By snapshots, which are gone when a log has moved on and no plan needs them. */
  private static final Map COLLECTED = Collections.synchronizedMap(new WeakHashMap());

  private Listed() {}

  /** Whether a version has few files. */
  static boolean few(Snapshot snapshot) {
    VersionChecksum checksum = checksum(snapshot);
    return (checksum == null ? snapshot.numOfFiles() : checksum.numFiles()) <= FEW;
  }

  static AddFile[] files(Snapshot snapshot) {
    AddFile[] files = written(snapshot);
    if (files == null) {
      files = (AddFile[]) COLLECTED.get(snapshot);
    }
    if (files == null) {
      files = (AddFile[]) snapshot.allFiles().collect();
      if (files.length <= FEW) {
        COLLECTED.put(snapshot, files);
      }
    }
    return (AddFile[]) files.clone();
  }

  /** What the checksum file tells, or null. */
  private static AddFile[] written(Snapshot snapshot) {
    VersionChecksum checksum = checksum(snapshot);
    Option told = checksum == null ? Option.empty() : checksum.allFiles();
    if (told.isEmpty()) {
      return null;
    }
    AddFile[] files = new AddFile[((Seq) told.get()).length()];
    for (int i = 0; i < files.length; i++) {
      files[i] = (AddFile) ((Seq) told.get()).apply(i);
    }
    return files;
  }

  private static VersionChecksum checksum(Snapshot snapshot) {
    Option checksum = snapshot.checksumOpt();
    return checksum.isDefined() ? (VersionChecksum) checksum.get() : null;
  }
}
