package warehouse.storage.tasks;

import java.io.Serializable;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Gives the rows of a task by {@link Pages}. */
public final class Paging extends AbstractFunction1 implements Serializable {
  private final int partitions;
  private final int columns;

  public Paging(int partitions, int columns) {
    this.partitions = partitions;
    this.columns = columns;
  }

  public Object apply(Object rows) {
    return new Pages((Iterator) rows, partitions, columns);
  }
}
