package warehouse.storage;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.delta.ChainableExecutionObserver;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.TransactionExecutionObserver;
import org.apache.spark.sql.delta.TransactionExecutionObserver$;
import scala.Function0;
import scala.Option;

/** Has the transactions that Delta begins in a thread be such as spread rows by keys without a shuffle, until it ends. */
public final class Spreads implements TransactionExecutionObserver {
  private final ChainableExecutionObserver before = TransactionExecutionObserver$.MODULE$.getObserver();
  private final List names = new ArrayList();
  private final List keys;
  private final int partitions;

  private Spreads(List keys, int partitions) {
    this.keys = keys;
    this.partitions = partitions;
  }

  static Spreads begin(List keys, int partitions) {
    Spreads begun = new Spreads(keys, partitions);
    TransactionExecutionObserver$.MODULE$.setObserver(begun);
    return begun;
  }

  /** End it; return the names of the files that hold the rows of the partition that they are named after. */
  public List end() {
    TransactionExecutionObserver$.MODULE$.setObserver(before);
    return names;
  }

  public OptimisticTransaction startingTransaction(Function0 begin) {
    return new SpreadTransaction((OptimisticTransaction) begin.apply(), keys, partitions, names);
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
