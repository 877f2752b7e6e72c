package warehouse.execution;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.util.collection.BitSet;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Few numbers that many are looked up among: by the first bits of each in a set of bits, and the few that pass in the
 * sorted numbers. Generated code calls both; a join would look each of the many up in its table.
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

  /** Whether that of another row is among them. */
  Column amongThem() {
    return ExpressionUtils.column(isSeen()).and(ExpressionUtils.column(place()).geq(0));
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
