package warehouse.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode$;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.delta.Snapshot;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.catalyst.util.TypeUtils$;
import scala.Option;
import scala.math.Ordering;

/** Rows that tell, for each partition and column of a Delta table, what is in it. */
final class Statistics {
  private static final StructType SCHEMA = new StructType()
      .add("partition", DataTypes.IntegerType, false)
      .add("file", DataTypes.StringType, false)
      .add("column", DataTypes.StringType, false)
      .add("rows", DataTypes.LongType, false)
      .add("nulls", DataTypes.LongType)
      .add("min", DataTypes.StringType)
      .add("max", DataTypes.StringType)
      .add("values", DataTypes.createArrayType(DataTypes.StringType));

  private final List rows = new ArrayList();

  private final Names names;

  private Statistics(Names names) {
    this.names = names;
  }

  /**
   * Let a temporary view hold the statistics of a table.
   *
   * @param session gets the view.
   * @param snapshot the table.
   * @param view the view's name.
   * @param distributed whether the files' numbers are those of the table's partitions.
   */
  static void view(SparkSession session, Snapshot snapshot, String view, boolean distributed) throws Exception {
    AddFile[] files = (AddFile[]) Listed.files(snapshot).clone();
    Arrays.sort(files, new Comparator() {
      public int compare(Object one, Object other) {
        return ((AddFile) one).path().compareTo(((AddFile) other).path());
      }
    });
    Configuration configuration = ((org.apache.spark.sql.classic.SparkSession) session).sessionState().newHadoopConf();
    Statistics found = new Statistics(new Names(snapshot.schema()));
    for (int i = 0; i < files.length; i++) {
      Path file = files[i].absolutePath(snapshot.deltaLog());
      int number = distributed ? PartitionedScan.number(file.getName()) : i;
      found.partition(number, file, files[i], Facts.of(file, configuration).under(found.names), snapshot.schema());
    }
    Dataset made = session.createDataFrame(found.rows, SCHEMA);
    made.createOrReplaceTempView(view);
  }

  private void partition(int number, Path file, AddFile added, Facts facts, StructType schema) {
    boolean thinned = added.deletionVector() != null;
    long there = facts.rows - (thinned ? added.deletionVector().cardinality() : 0);
    columns(number, file.getName(), there, added, facts, schema, "");
  }

  private void columns(
      int number, String file, long there, AddFile added, Facts facts, StructType schema, String above) {
    for (int i = 0; i < schema.fields().length; i++) {
      StructField field = schema.fields()[i];
      String path = above + field.name();
      DataType type = field.dataType();
      Option fixed = added.partitionValues().get(names.inFiles(path));
      if (fixed.isDefined()) {
        Object value = fixed.get();
        row(number, file, path, there, value == null ? there : 0, (String) value, (String) value,
            value == null ? new String[0] : new String[] {(String) value});
      } else if (type instanceof StructType) {
        columns(number, file, there, added, facts, (StructType) type, path + ".");
      } else if (type instanceof ArrayType || type instanceof MapType) {
        row(number, file, path, there, null, null, null, null);
      } else {
        leaf(number, file, there, added, facts.column(path), path, type);
      }
    }
  }

  private void leaf(int number, String file, long there, AddFile added, Column column, String path, DataType type) {
    if (column == null) {  // written before the column was added
      row(number, file, path, there, there, null, null, new String[0]);
      return;
    }
    boolean thinned = added.deletionVector() != null;
    row(number, file, path, there, thinned || column.nulls < 0 ? null : Long.valueOf(column.nulls),
        text(column.as(column.least, type), type), text(column.as(column.greatest, type), type),
        thinned ? null : texts(column.valuesAs(type), type));
  }

  private void row(
      int number, String file, String column, long there, Object nulls, String least, String greatest,
      String[] values) {
    rows.add(RowFactory.create(new Object[] {
      Integer.valueOf(number), file, column, Long.valueOf(there), nulls, least, greatest, values}));
  }

  private static String[] texts(List values, DataType type) {
    if (values == null) {
      return null;
    }
    final Ordering order = TypeUtils$.MODULE$.getInterpretedOrdering(type);
    List sorted = new ArrayList(values);
    sorted.sort(new Comparator() {
      public int compare(Object one, Object other) {
        return order.compare(one, other);
      }
    });
    String[] texts = new String[sorted.size()];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = text(sorted.get(i), type);
    }
    return texts;
  }

  private static String text(Object value, DataType type) {
    if (value == null) {
      return null;
    }
    return String.valueOf(new Cast(
        new Literal(value, type), DataTypes.StringType, Option.apply("UTC"), EvalMode$.MODULE$.LEGACY()).eval(null));
  }
}
