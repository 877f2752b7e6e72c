package warehouse.storage;

import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import scala.jdk.javaapi.CollectionConverters;

/** Between which values the columns of a plan are, by the statistics of exactly those files that it reads. */
final class Bounds {
  /** The footers of more files than this are not read for it. */
  private static final int MOST_FILES = 1024;

  private final Configuration configuration;

  /** Where a column comes from: its expression's number to a {@link Source}, or to the column that it is by another name. */
  private final Map sources = new HashMap();

  Bounds(LogicalPlan plan, Configuration configuration) {
    this.configuration = configuration;
    collect(plan);
  }

  /** Return the least and the greatest unscaled value of a column of whole numbers or decimals; null when not known. */
  BigInteger[] of(Attribute column) {
    Object found = sources.get(column.exprId());
    if (found instanceof Attribute) {
      return of((Attribute) found);
    }
    return found == null ? null : ((Source) found).bounds(column.dataType());
  }

  /** What keeps the columns of its children as they are; below anything else they may have other values. */
  private void collect(LogicalPlan plan) {
    if (plan instanceof Project) {
      List columns = CollectionConverters.asJava(((Project) plan).projectList());
      for (int i = 0; i < columns.size(); i++) {
        if (columns.get(i) instanceof Alias && ((Alias) columns.get(i)).child() instanceof Attribute) {
          sources.put(((Alias) columns.get(i)).exprId(), ((Alias) columns.get(i)).child());
        }
      }
    }
    if (plan instanceof LogicalRelation && ((LogicalRelation) plan).relation() instanceof HadoopFsRelation) {
      scan((HadoopFsRelation) ((LogicalRelation) plan).relation(), plan.output(), plan.output());
    } else if (plan instanceof InMemoryRelation) {
      SparkPlan held = ((InMemoryRelation) plan).cacheBuilder().cachedPlan();
      FileSourceScanExec scan = scan(held);
      if (scan != null) {
        scan(scan.relation(), held.output(), plan.output());
      }
    } else if (plan instanceof Project || plan instanceof Filter || plan instanceof Join) {
      List children = CollectionConverters.asJava(plan.children());
      for (int i = 0; i < children.size(); i++) {
        collect((LogicalPlan) children.get(i));
      }
    }
  }

  /** The scan of a plan that does nothing but read a table, or null. */
  static FileSourceScanExec scan(SparkPlan plan) {
    SparkPlan at = plan;
    while (at.children().size() == 1 && at.output().equals(((SparkPlan) at.children().head()).output())) {
      at = (SparkPlan) at.children().head();
    }
    return at instanceof FileSourceScanExec ? (FileSourceScanExec) at : null;
  }

  private void scan(HadoopFsRelation relation, scala.collection.immutable.Seq read, scala.collection.immutable.Seq seen) {
    if (!(relation.location() instanceof PreparedDeltaFileIndex)) {
      return;
    }
    PreparedDeltaFileIndex index = (PreparedDeltaFileIndex) relation.location();
    Names names = Names.of(index);
    for (int i = 0; i < read.size(); i++) {
      Attribute column = (Attribute) read.apply(i);
      sources.put(((Attribute) seen.apply(i)).exprId(), new Source(index, names, column.name()));
    }
  }

  /** A column of a table's files. */
  private final class Source {
    private final PreparedDeltaFileIndex index;
    private final Names names;
    private final String column;

    Source(PreparedDeltaFileIndex index, Names names, String column) {
      this.index = index;
      this.names = names;
      this.column = column;
    }

    BigInteger[] bounds(DataType type) {
      List files = CollectionConverters.asJava(index.preparedScan().files());
      BigInteger[] all = null;
      if (files.size() > MOST_FILES) {
        return null;
      }
      for (int i = 0; i < files.size(); i++) {
        Path path = new Path(index.path(), ((AddFile) files.get(i)).toPath());
        BigInteger[] own = bounds(path, type);
        if (own == null) {
          return null;
        }
        all = all == null ? own : new BigInteger[] {all[0].min(own[0]), all[1].max(own[1])};
      }
      return all;
    }

    private BigInteger[] bounds(Path path, DataType type) {
      Facts facts;
      try {
        facts = Facts.of(path, configuration).under(names);
      } catch (Exception unreadable) {
        return null;
      }
      Column found = facts.column(column);
      if (found == null) {
        return null;
      }
      if (found.nulls == facts.rows) {
        return new BigInteger[] {BigInteger.ZERO, BigInteger.ZERO};
      }
      BigInteger least = whole(found.as(found.least, type));
      BigInteger greatest = whole(found.as(found.greatest, type));
      return least == null || greatest == null ? null : new BigInteger[] {least, greatest};
    }
  }

  private static BigInteger whole(Object value) {
    if (value instanceof Decimal) {
      return ((Decimal) value).toJavaBigDecimal().unscaledValue();
    }
    boolean integral = value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte;
    return integral ? BigInteger.valueOf(((Number) value).longValue()) : null;
  }
}
