package warehouse.storage.tasks;

import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.sql.delta.files.DelayedCommitProtocol;
import scala.Option;
import scala.collection.immutable.Map;

/**
 * Names the files that a task has open, one for each partition, after the partitions instead of the task, and leaves
 * out the folders that their numbers would make.
 */
public final class Spreading extends DelayedCommitProtocol {
  private int partition;

  public Spreading(String path, Option subfolder) {
    super("delta", path, Option.empty(), subfolder);
  }

  /** `folder` ends with the column of the number, as in `day=2026-01-01/__w_partition=3`. */
  public String newTaskTempFile(TaskAttemptContext context, Option folder, String extension) {
    String all = (String) folder.get();
    partition = Integer.parseInt(all.substring(all.lastIndexOf('=') + 1));
    int end = all.lastIndexOf('/');
    return super.newTaskTempFile(context, end < 0 ? Option.empty() : Option.apply(all.substring(0, end)), extension);
  }

  public String getFileName(TaskAttemptContext context, String extension, Map partitionValues) {
    return DelayedCommitProtocol.buildFileName(partition, extension, false);
  }
}
