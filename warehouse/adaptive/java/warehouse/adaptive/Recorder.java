package warehouse.adaptive;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.SparkContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import scala.jdk.javaapi.CollectionConverters;

/** Listens to one statement, known by the tag of its jobs: its executions, its stages, and what their tasks took. */
public final class Recorder extends SparkListener {
  private final SparkContext context;
  private final String tag;
  private final Set executions = new HashSet();
  private final List plans = new ArrayList();
  private final List numbers = new ArrayList();
  private final Map stages = new HashMap();
  private final Map tasks = new TreeMap();

  public Recorder(SparkContext context, String tag) {
    this.context = context;
    this.tag = tag;
    context.addSparkListener(this);
  }

  /** Stop to listen, once all that has happened so far has been heard, or ten seconds later where much else happens. */
  public void close() {
    try {
      context.listenerBus().waitUntilEmpty(10000L);
    } catch (Exception late) {
      // what has been heard by now is told
    } finally {
      context.removeSparkListener(this);
    }
  }

  /** The executions that Spark ran within the statement, in the order in which they ended. */
  public synchronized QueryExecution[] executions() {
    return (QueryExecution[]) plans.toArray(new QueryExecution[0]);
  }

  /** The number of each, in the same order. */
  public synchronized List numbers() {
    return numbers;
  }

  /** A line per stage: its number and its execution's, the sums over all tasks that succeeded, their times in ms. */
  public synchronized String stages() {
    StringBuilder lines = new StringBuilder();
    for (Iterator each = tasks.values().iterator(); each.hasNext();) {
      lines.append(each.next()).append('\n');
    }
    return lines.toString();
  }

  public synchronized void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof SparkListenerSQLExecutionStart) {
      SparkListenerSQLExecutionStart start = (SparkListenerSQLExecutionStart) event;
      if (start.jobTags().contains(tag)) {
        executions.add(Long.valueOf(start.executionId()));
      }
    } else if (event instanceof SparkListenerSQLExecutionEnd) {
      SparkListenerSQLExecutionEnd end = (SparkListenerSQLExecutionEnd) event;
      if (executions.contains(Long.valueOf(end.executionId())) && end.qe() != null) {
        plans.add(end.qe());
        numbers.add(Long.valueOf(end.executionId()));
      }
    }
  }

  public synchronized void onJobStart(SparkListenerJobStart job) {
    String tags = job.properties() == null ? null : job.properties().getProperty("spark.job.tags");
    if (tags != null && Arrays.asList(tags.split(",")).contains(tag)) {
      String execution = job.properties().getProperty("spark.sql.execution.id", "-1");
      for (Iterator each = CollectionConverters.asJava(job.stageIds()).iterator(); each.hasNext();) {
        stages.put(each.next(), execution);
      }
    }
  }

  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    TaskMetrics metrics = end.taskMetrics();
    Integer number = Integer.valueOf(end.stageId());
    if (!stages.containsKey(number) || !end.taskInfo().successful() || metrics == null) {
      return;
    }
    Tasks of = (Tasks) tasks.get(number);
    if (of == null) {
      of = new Tasks(end.stageId() + " " + stages.get(number));
      tasks.put(number, of);
    }
    of.add(end.taskInfo().duration(), metrics);
  }
}
