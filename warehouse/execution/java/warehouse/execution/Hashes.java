package warehouse.execution;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.util.collection.BitSet;
import scala.Function1;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import warehouse.execution.tasks.RowsByHash;

/**
 * Few numbers that many are looked up among: by the first bits of each in a set of bits, and the few that pass in the
 * sorted numbers. Generated code calls both; a join would look each of the many up in its table. Of files the hashes are
 * kept, so that the few rows alone are read.
 */
final class Hashes {
  /** Bits for each number: of others, one in so many passes the first look. */
  private static final int BITS = 64;
  private static final int MOST_BITS = 1 << 24;

  private final String hash;
  private final long[] sorted;
  private final BitSet seen;
  private final int shift;

  /** What `hash`, SQL for a BIGINT that is never NULL, is of the `wanted` rows, which are read for it. */
  Hashes(Dataset wanted, String hash) {
    this.hash = hash;
    Row[] rows = (Row[]) wanted.selectExpr(new String[] {hash}).collect();
    sorted = new long[rows.length];
    for (int i = 0; i < rows.length; i++) {
      sorted[i] = rows[i].getLong(0);
    }
    Arrays.sort(sorted);
    int bits = Math.min(Integer.highestOneBit(Math.max(rows.length, 2)) * BITS, MOST_BITS);
    shift = 64 - Integer.numberOfTrailingZeros(bits);
    seen = new BitSet(bits);
    for (int i = 0; i < sorted.length; i++) {
      seen.set((int) (sorted[i] >>> shift));
    }
  }

  /** The rows of which the hash is among them. */
  Dataset among(Dataset rows) {
    org.apache.spark.sql.classic.Dataset each =
        (org.apache.spark.sql.classic.Dataset) rows.select(new Column[] {functions.expr(hash)});
    Expression named = (Expression) ((Project) each.queryExecution().analyzed()).projectList().head();
    Expression resolved = named instanceof Alias ? ((Alias) named).child() : named;
    LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset) rows).queryExecution().analyzed();
    LogicalPlan chosen = HashedFiles.among(this, resolved, plan);
    Dataset few = chosen == plan ? rows : org.apache.spark.sql.classic.Dataset.ofRows(each.sparkSession(), chosen);
    return few.where(ExpressionUtils.column(isSeen()).and(ExpressionUtils.column(place()).geq(0)));
  }

  /** What reads files in tasks; see there. */
  RowsByHash reader(Function1 all, Function1 hashed, scala.collection.immutable.Seq bound, String text) {
    return new RowsByHash(all, hashed, bound, text, seen, shift, sorted);
  }

  private Expression isSeen() {
    Expression first = expression("CAST(shiftrightunsigned(" + hash + ", " + shift + ") AS INT)");
    return new Invoke(literal(seen), "get", DataTypes.BooleanType, list(first), none(), true, false, true);
  }

  private Expression place() {
    List both = Arrays.asList(new Object[] {literal(sorted), expression(hash)});
    return new StaticInvoke(Arrays.class, DataTypes.IntegerType, "binarySearch", seq(both), none(), true, false, true,
        Option.empty());
  }

  private static Expression expression(String sql) {
    return ExpressionUtils.expression(functions.expr(sql));
  }

  private static Literal literal(Object value) {
    DataType type = new ObjectType(value.getClass());
    return Literal$.MODULE$.fromObject(value, type);
  }

  private static scala.collection.immutable.Seq list(Expression one) {
    return seq(Arrays.asList(new Object[] {one}));
  }

  private static scala.collection.immutable.Seq none() {
    return seq(Arrays.asList(new Object[0]));
  }

  private static scala.collection.immutable.Seq seq(List all) {
    return CollectionConverters.asScala(all).toList();
  }
}
