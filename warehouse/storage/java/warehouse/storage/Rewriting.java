package warehouse.storage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.delta.DeltaLog;
import org.apache.spark.sql.delta.DeltaOperations;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.actions.AddFile;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.mutable.ListBuffer;

/**
 * Some files of a Delta table written anew, in one transaction that says no row was changed: who reads the table as a
 * stream is told of none.
 */
public class Rewriting {
  private final DeltaLog log;
  private final OptimisticTransaction transaction;
  private final Map files = new HashMap();
  private final ListBuffer chosen = new ListBuffer();

  Rewriting(DeltaLog log) {
    this.log = log;
    this.transaction = log.startTransaction();
    AddFile[] all = Listed.files(transaction.snapshot());
    for (int i = 0; i < all.length; i++) {
      files.put(all[i].absolutePath(log).getName(), all[i]);
    }
  }

  /** The names of the table's files, each followed by how many bytes it has. */
  public List files() {
    List found = new ArrayList();
    java.util.Iterator each = files.entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry file = (Map.Entry) each.next();
      found.add(file.getKey());
      found.add(String.valueOf(((AddFile) file.getValue()).size()));
    }
    return found;
  }

  /** The rows of those files that are to be replaced. */
  public Dataset rows(List names) {
    for (int i = 0; i < names.size(); i++) {
      chosen.addOne(files.get(names.get(i)));
    }
    return log.createDataFrame(transaction.snapshot(), chosen.toList(), false, Option.empty());
  }

  /** Write `rows`, which are those, in the place of the files; return how many versions came since these were read. */
  public long commit(Dataset rows) {
    ListBuffer actions = new ListBuffer();
    Iterator added = transaction.writeFiles(rows, Option.empty(), true, Nil$.MODULE$).iterator();
    while (added.hasNext()) {
      actions.addOne(unchanged((AddFile) added.next()));
    }
    long now = System.currentTimeMillis();
    Iterator replaced = chosen.iterator();
    while (replaced.hasNext()) {
      actions.addOne(((AddFile) replaced.next()).removeWithTimestamp(now, false));
    }
    return transaction.commit(
        actions.toList(), new DeltaOperations.Optimize(Nil$.MODULE$, Nil$.MODULE$, false, Option.empty(), false))
        - transaction.snapshot().version();
  }

  private static AddFile unchanged(AddFile file) {
    return file.copy(
        file.path(), file.partitionValues(), file.size(), file.modificationTime(), false, file.stats(), file.tags(),
        file.deletionVector(), file.baseRowId(), file.defaultRowCommitVersion(), file.clusteringProvider(),
        file.backReference(), file.amtPassthrough());
  }
}
