package warehouse.storage;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.VersionChecksum;
import org.apache.spark.sql.delta.actions.AddFile;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The files of a version of a table. The checksum file that Delta writes with a commit names them where there are few
 * (allFilesInCrc.thresholdNumFiles); for others Delta replays the log in Spark jobs, here once for a version.
 */
final class Listed {
  /** Of more files than this Delta's own job is worth its start. */
  private static final int FEW = 256;

  /** By snapshots, which are gone when a log has moved on and no plan needs them. */
  private static final Map KNOWN = Collections.synchronizedMap(new WeakHashMap());

  private Listed() {}

  /** Whether a version has few files. */
  static boolean few(Snapshot snapshot) {
    VersionChecksum checksum = checksum(snapshot);
    return (checksum == null ? snapshot.numOfFiles() : checksum.numFiles()) <= FEW;
  }

  /** The files of a version; the array is everybody's and not to be changed. */
  static AddFile[] files(Snapshot snapshot) {
    AddFile[] files = (AddFile[]) KNOWN.get(snapshot);
    if (files == null) {
      files = listed(snapshot);
      if (files.length <= FEW) {
        KNOWN.put(snapshot, files);
      }
    }
    return files;
  }

  private static AddFile[] listed(Snapshot snapshot) {
    VersionChecksum checksum = checksum(snapshot);
    Option told = checksum == null ? Option.empty() : checksum.allFiles();
    if (told.isEmpty()) {
      return (AddFile[]) snapshot.allFiles().collect();
    }
    return (AddFile[]) CollectionConverters.asJavaCollection((Seq) told.get()).toArray(new AddFile[0]);
  }

  private static VersionChecksum checksum(Snapshot snapshot) {
    Option checksum = snapshot.checksumOpt();
    return checksum.isDefined() ? (VersionChecksum) checksum.get() : null;
  }
}
