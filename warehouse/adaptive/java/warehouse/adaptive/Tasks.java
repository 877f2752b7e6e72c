package warehouse.adaptive;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.executor.TaskMetrics;

/** What the tasks of a stage took and moved. */
final class Tasks {
  private final String stage;
  private final long[] sums = new long[8];
  private final List times = new ArrayList();

  Tasks(String stage) {
    this.stage = stage;
  }

  void add(long milliseconds, TaskMetrics metrics) {
    times.add(Long.valueOf(milliseconds));
    long[] moved = new long[] {
      metrics.inputMetrics().recordsRead(), metrics.inputMetrics().bytesRead(),
      metrics.shuffleReadMetrics().recordsRead(), metrics.shuffleReadMetrics().totalBytesRead(),
      metrics.shuffleWriteMetrics().recordsWritten(), metrics.shuffleWriteMetrics().bytesWritten(),
      metrics.memoryBytesSpilled(), metrics.diskBytesSpilled()};
    for (int i = 0; i < sums.length; i++) {
      sums[i] += moved[i];
    }
  }

  public String toString() {
    StringBuilder line = new StringBuilder();
    line.append(stage);
    for (int i = 0; i < sums.length; i++) {
      line.append(' ').append(sums[i]);
    }
    for (int i = 0; i < times.size(); i++) {
      line.append(' ').append(times.get(i));
    }
    return line.toString();
  }
}
