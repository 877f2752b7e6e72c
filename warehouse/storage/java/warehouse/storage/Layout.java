package warehouse.storage;

import java.util.List;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.delta.Snapshot;
import scala.collection.immutable.Nil$;
import scala.collection.mutable.ListBuffer;

/** How the rows of one version of a table are spread over its partitions: by hash of some columns, as Spark hashes. */
final class Layout {
  final String id;
  final long version;
  final boolean holds;
  private final List keys;
  private final int partitions;

  /** Of version `version` of table `id`, `holds` says whether each row is in the file of its partition. */
  Layout(String id, long version, boolean holds, List keys, int partitions) {
    this.id = id;
    this.version = version;
    this.holds = holds;
    this.keys = keys;
    this.partitions = partitions;
  }

  /** Whether the rows of a table, as Delta has it, are where their keys say. */
  boolean holdsFor(Snapshot table) {
    return holds && version == table.version() && id.equals(table.metadata().id());
  }

  BucketSpec buckets() {
    ListBuffer names = new ListBuffer();
    for (int i = 0; i < keys.size(); i++) {
      names.addOne(keys.get(i));
    }
    return new BucketSpec(partitions, names.toList(), Nil$.MODULE$);
  }
}
