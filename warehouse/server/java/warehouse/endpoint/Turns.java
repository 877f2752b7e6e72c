package warehouse.endpoint;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.Schedulable;
import org.apache.spark.scheduler.SchedulingAlgorithm;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;

/**
 * Which pool gets a core that has become free: the one with fewest running tasks for its share, as Spark's fair
 * scheduler has it, and of several the one whose last task began longest ago. Spark takes the first by name of those:
 * of three sessions with work for two cores always the same two, until they are done.
 */
public class Turns implements SchedulingAlgorithm {
  private final TaskScheduler scheduler;
  private final Pool root;

  private Turns(TaskSchedulerImpl scheduler) {
    this.scheduler = scheduler;
    this.root = scheduler.rootPool();
  }

  /** Take over from Spark's order, unless it was told to be another than the fair one; null then. */
  static Turns of(SparkContext context) {
    TaskScheduler scheduler = context.taskScheduler();
    if (!(scheduler instanceof TaskSchedulerImpl)) {
      return null;
    }
    Turns turns = new Turns((TaskSchedulerImpl) scheduler);
    if (!"FAIR".equals(turns.root.schedulingMode().toString())) {
      return null;
    }
    synchronized (scheduler) { // in which Spark hands out cores
      List found = new ArrayList(turns.root.schedulableQueue());
      for (Iterator each = found.iterator(); each.hasNext();) {
        Schedulable pool = (Schedulable) each.next();
        if (pool instanceof Pool && !(pool instanceof Waiting)) {
          turns.replace((Pool) pool);
        }
      }
      try {
        Fields.set(Pool.class, turns.root, "taskSetSchedulingAlgorithm", turns);
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    }
    return turns;
  }

  /** A pool of this name, made when there is none. */
  void pool(String name) {
    synchronized (scheduler) {
      if (root.getSchedulableByName(name) == null) {
        root.addSchedulable(new Waiting(name, root.schedulingMode(), 0, 1));
      }
    }
  }

  private void replace(Pool old) {
    Waiting made = new Waiting(old.poolName(), old.schedulingMode(), old.minShare(), old.weight());
    for (Iterator each = old.schedulableQueue().iterator(); each.hasNext();) {
      made.addSchedulable((Schedulable) each.next());
    }
    int running = old.runningTasks();
    root.removeSchedulable(old);
    root.addSchedulable(made);
    made.runningTasks_$eq(running); // which the root has counted
  }

  public boolean comparator(Schedulable one, Schedulable other) {
    boolean lacks = one.runningTasks() < one.minShare();
    if (lacks != other.runningTasks() < other.minShare()) {
      return lacks;
    }
    int order = Double.compare(load(one, lacks), load(other, lacks));
    if (order == 0) {
      order = Long.compare(began(one), began(other));
    }
    return order == 0 ? one.name().compareTo(other.name()) < 0 : order < 0;
  }

  private static double load(Schedulable pool, boolean lacks) {
    return (double) pool.runningTasks() / (lacks ? Math.max(pool.minShare(), 1) : pool.weight());
  }

  private static long began(Schedulable pool) {
    return pool instanceof Waiting ? ((Waiting) pool).began : 0;
  }

  /** A pool that remembers when its last task began. */
  static class Waiting extends Pool {
    volatile long began;

    Waiting(String name, scala.Enumeration.Value mode, int least, int weight) {
      super(name, mode, least, weight);
    }

    public void increaseRunningTasks(int count) {
      began = System.nanoTime();
      super.increaseRunningTasks(count);
    }
  }
}
