package warehouse.storage;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.delta.ChainableExecutionObserver;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.TransactionExecutionObserver;
import org.apache.spark.sql.delta.TransactionExecutionObserver$;
import scala.Function0;
import scala.Option;

/**
 * Has the transactions that Delta begins in a thread be such as know how their table is kept, until it ends: that rows are
 * spread by keys without a shuffle, or that they are packed for memory.
 */
public final class Writings implements TransactionExecutionObserver {
  private final ChainableExecutionObserver before = TransactionExecutionObserver$.MODULE$.getObserver();
  private final List names = new ArrayList();
  private final boolean remembers;
  private final List keys;
  private final int partitions;

  private Writings(boolean remembers, List keys, int partitions) {
    this.remembers = remembers;
    this.keys = keys;
    this.partitions = partitions;
  }

  /** `remembers` says whether the table belongs into memory; it has no `keys` where it is not distributed. */
  static Writings begin(boolean remembers, List keys, int partitions) {
    Writings begun = new Writings(remembers, keys, partitions);
    TransactionExecutionObserver$.MODULE$.setObserver(begun);
    return begun;
  }

  /** End it; return the names of the files that hold the rows of the partition that they are named after. */
  public List end() {
    TransactionExecutionObserver$.MODULE$.setObserver(before);
    return names;
  }

  public OptimisticTransaction startingTransaction(Function0 begin) {
    OptimisticTransaction begun = (OptimisticTransaction) begin.apply();
    return keys.isEmpty() ? new RememberingTransaction(begun, remembers)
        : new SpreadTransaction(begun, remembers, keys, partitions, names);
  }

  public Object preparingCommit(Function0 prepare) {
    return prepare.apply();
  }

  public TransactionExecutionObserver createChild() {
    return this;
  }

  public void beginDoCommit() {}

  public void beginBackfill() {}

  public void beginPostCommit() {}

  public void transactionCommitted() {}

  public void transactionAborted() {}

  public Option nextObserver() {
    return Option.empty();
  }

  public void nextObserver_$eq(Option next) {}
}
