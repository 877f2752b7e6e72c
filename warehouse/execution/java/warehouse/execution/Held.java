package warehouse.execution;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.types.DataTypeUtils$;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Some;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction0;

/** Few rows that are kept in this process: what reads them starts no task for it, nor does what writes them. */
final class Held {
  private static final String DONE = "_SUCCESS";

  private Held() {}

  /** What rows come to now; null where that is more than so many. */
  static LocalRelation of(final QueryExecution rows, final int most) {
    Object found = SQLExecution$.MODULE$.withNewExecutionId(rows, new Some("hold"), new AbstractFunction0() {
      public Object apply() {
        return rows.executedPlan().executeTake(most + 1);
      }
    });
    return relation(rows.analyzed().schema(), (InternalRow[]) found, most);
  }

  /** What a plan comes to that is run once; null where that is more than so many. */
  static LocalRelation of(SparkSession session, final SparkPlan plan, final int most) {
    Object found = SQLExecution$.MODULE$.withSQLConfPropagated(session, new AbstractFunction0() {
      public Object apply() {
        return plan.executeTake(most + 1);
      }
    });
    return relation(plan.schema(), (InternalRow[]) found, most);
  }

  private static LocalRelation relation(StructType columns, InternalRow[] found, int most) {
    return found.length > most ? null : relation(columns.asNullable(), Arrays.asList(found)); // as that of files is
  }

  /** The plans of frames with the same columns, those of rows that are held as one. */
  static List together(List frames) {
    List held = new ArrayList();
    List others = new ArrayList();
    StructType columns = null;
    for (Iterator each = frames.iterator(); each.hasNext();) {
      LogicalPlan plan = filtered(((Dataset) each.next()).queryExecution().analyzed());
      if (plan instanceof LocalRelation) {
        columns = columns == null ? plan.schema().asNullable() : columns;
        held.addAll(CollectionConverters.asJava(((LocalRelation) plan).data()));
      } else {
        others.add(plan);
      }
    }
    if (columns != null) {
      others.add(relation(columns, held));
    }
    return others;
  }

  /** Write what `of` returned as Spark writes a folder of Parquet files, in the place of what was there. */
  static void write(Dataset rows, String folder) throws IOException {
    SparkSession session = rows.sparkSession();
    Job job = Job.getInstance(session.sessionState().newHadoopConf());
    scala.collection.immutable.Map options = (scala.collection.immutable.Map) Map$.MODULE$.empty();
    OutputWriterFactory files = new ParquetFileFormat().prepareWrite(session, job, options, rows.schema());
    TaskAttemptContext task = new TaskAttemptContextImpl(job.getConfiguration(), new TaskAttemptID());
    Path home = new Path(folder);
    FileSystem system = home.getFileSystem(job.getConfiguration());
    system.delete(home, true);
    String name = "part-00000-" + UUID.randomUUID() + files.getFileExtension(task);
    OutputWriter file = files.newInstance(new Path(home, name).toString(), rows.schema(), task);
    try {
      for (scala.collection.Iterator each = ((LocalRelation) rows.logicalPlan()).data().iterator(); each.hasNext();) {
        file.write((InternalRow) each.next());
      }
    } finally {
      file.close();
    }
    system.create(new Path(home, DONE)).close();
  }

  /** What filters and projects rows that are held, done by the one rule of the optimizer's that does it. */
  private static LogicalPlan filtered(LogicalPlan plan) {
    LogicalPlan before = null;
    LogicalPlan after = plan;
    while (after != before && !(after instanceof LocalRelation)) {
      before = after;
      after = ConvertToLocalRelation$.MODULE$.apply(ReplaceExpressions$.MODULE$.apply(before));
    }
    return after instanceof LocalRelation ? after : plan;
  }

  static LocalRelation relation(StructType columns, List rows) {
    LocalRelation held = new LocalRelation(
        DataTypeUtils$.MODULE$.toAttributes(columns), CollectionConverters.asScala(rows).toSeq(), false, Option.empty());
    held.setAnalyzed();
    return held;
  }
}
