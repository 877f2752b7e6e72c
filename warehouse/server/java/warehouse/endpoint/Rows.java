package warehouse.endpoint;

import java.util.Iterator;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.LocalLimitExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction1;

/**
 * The rows of a result, read as they are asked for: few in one job, as stock Spark collects all, others a partition at a
 * time. Whether they are few the plan knows (LIMIT, an aggregate without keys), or it is tried where little is read.
 */
class Rows implements Iterable {
  private static final int FEW = 2000;
  private static final long LITTLE = 4L << 20; // bytes that a plan thinks its rows are

  private final org.apache.spark.sql.classic.Dataset result;

  Rows(Dataset result) {
    this.result = (org.apache.spark.sql.classic.Dataset) result;
  }

  /** Nothing runs before the first row is asked for. */
  public Iterator iterator() {
    return new Iterator() {
      private Iterator rows;

      public boolean hasNext() {
        if (rows == null) {
          rows = begin();
        }
        return rows.hasNext();
      }

      public Object next() {
        hasNext();
        return rows.next();
      }
    };
  }

  private Iterator begin() {
    LogicalPlan plan = result.queryExecution().optimizedPlan();
    Option most = plan.maxRows();
    if (most.isDefined() && ((Long) most.get()).longValue() <= FEW) {
      return result.collectAsList().iterator();
    }
    if (plan.stats().sizeInBytes().$less$eq(scala.math.BigInt.apply(LITTLE))) {
      Iterator few = tried();
      if (few != null) {
        return few;
      }
    }
    return result.toLocalIterator();
  }

  /** All rows from one job, or null if they turn out to be many: no partition gives more than a few. */
  private Iterator tried() {
    final QueryExecution query = result.queryExecution();
    Tuple2 found = (Tuple2) SQLExecution$.MODULE$.withNewExecutionId(query, Option.apply("few rows"),
        new AbstractFunction0() {
          public Object apply() {
            return new LocalLimitExec(FEW, query.executedPlan()).executeCollectIterator();
          }
        });
    if (((Long) found._1()).longValue() >= FEW) {
      return null;
    }
    final ExpressionEncoder.Deserializer row =
        result.exprEnc().resolveAndBind(query.analyzed().output(), query.sparkSession().sessionState().analyzer())
            .createDeserializer();
    return CollectionConverters.asJava(((scala.collection.Iterator) found._2()).map(new AbstractFunction1() {
      public Object apply(Object internal) {
        return row.apply((org.apache.spark.sql.catalyst.InternalRow) internal);
      }
    }));
  }
}
