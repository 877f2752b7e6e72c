package warehouse.storage;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.delta.DeltaColumnMapping;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Where the columns of a table are in its files, by their paths with dots: one that is renamed stays there as it was. */
final class Names {
  private final StructType schema;

  /** Null until somebody asks: most plans are of no condition or sum that would. */
  private Map paths;

  Names(StructType schema) {
    this.schema = schema;
  }

  private Map paths() {
    Map paths = new HashMap();
    Map all = CollectionConverters.asJava(DeltaColumnMapping.getLogicalNameToPhysicalNameMap(schema));
    for (Iterator each = all.entrySet().iterator(); each.hasNext();) {
      Map.Entry one = (Map.Entry) each.next();
      String path = ((Seq) one.getKey()).mkString(".");
      paths.put(path, paths.containsKey(path) ? null : ((Seq) one.getValue()).mkString("."));
    }
    return paths;
  }

  /** Those of the table that an index of files is of. */
  static Names of(PreparedDeltaFileIndex index) {
    return new Names(index.preparedScan().scannedSnapshot().schema());
  }

  /** The path in the files; null for what is no column of the table's, or not told from a field of another one. */
  String inFiles(String path) {
    if (paths == null) {
      paths = paths();
    }
    return (String) paths.get(path);
  }
}
