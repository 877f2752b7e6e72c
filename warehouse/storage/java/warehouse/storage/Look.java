package warehouse.storage;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.mutable.ListBuffer;

/** One version of a table, to be looked at: all that is asked of it is of the same commit. */
public final class Look {
  private final Snapshot snapshot;
  private final AddFile[] files;

  Look(Snapshot snapshot) {
    this.snapshot = snapshot;
    this.files = Listed.files(snapshot);
  }

  public long version() {
    return snapshot.version();
  }

  public String id() {
    return snapshot.metadata().id();
  }

  /** A property of the table, or null. */
  public String property(String name) {
    Option found = snapshot.metadata().configuration().get(name);
    return found.isDefined() ? (String) found.get() : null;
  }

  /** The types of columns, as JSON; of one that is not there the empty text. */
  public List types(List names) {
    StructType schema = snapshot.metadata().schema();
    List types = new ArrayList();
    for (int i = 0; i < names.size(); i++) {
      types.add(type(schema, ((String) names.get(i)).toLowerCase(Locale.ROOT)));
    }
    return types;
  }

  private static String type(StructType schema, String name) {
    StructField[] fields = schema.fields();
    for (int i = 0; i < fields.length; i++) {
      if (fields[i].name().toLowerCase(Locale.ROOT).equals(name)) {
        return fields[i].dataType().json();
      }
    }
    return "";
  }

  /** What tells its files apart: their names and, behind `#`, which rows of them were deleted. */
  public List files() {
    List found = new ArrayList();
    for (int i = 0; i < files.length; i++) {
      found.add(identity(files[i]));
    }
    return found;
  }

  /** The rows of some of its files. */
  public Dataset rows(List identities) {
    ListBuffer chosen = new ListBuffer();
    Set wanted = new HashSet(identities);
    for (int i = 0; i < files.length; i++) {
      if (wanted.contains(identity(files[i]))) {
        chosen.addOne(files[i]);
      }
    }
    return snapshot.deltaLog().createDataFrame(snapshot, chosen.toList(), false, Option.empty());
  }

  private String identity(AddFile file) {
    String name = file.absolutePath(snapshot.deltaLog()).getName();
    return file.deletionVector() == null ? name : name + "#" + file.deletionVector().uniqueId();
  }
}
