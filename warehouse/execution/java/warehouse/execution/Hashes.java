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
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import warehouse.execution.tasks.Numbers;

/**
 * A hash of few rows, by which others that are like them are found among many ({@link Numbers}). Generated code looks each
 * of these up; a join would do so in its table. Of files the hashes are kept, so that the rows that are found alone are read.
 */
final class Hashes {
  private final String hash;
  private final Numbers wanted;

  /** What `hash`, SQL for a BIGINT that is never NULL, is of the `wanted` rows, which are read for it. */
  Hashes(Dataset wanted, String hash) {
    this.hash = hash;
    Row[] rows = (Row[]) wanted.selectExpr(new String[] {hash}).collect();
    long[] numbers = new long[rows.length];
    for (int i = 0; i < rows.length; i++) {
      numbers[i] = rows[i].getLong(0);
    }
    this.wanted = new Numbers(numbers);
  }

  /** The rows of which the hash is among them. */
  Dataset among(Dataset rows) {
    org.apache.spark.sql.classic.Dataset each =
        (org.apache.spark.sql.classic.Dataset) rows.select(new Column[] {functions.expr(hash)});
    Expression named = (Expression) ((Project) each.queryExecution().analyzed()).projectList().head();
    Expression resolved = named instanceof Alias ? ((Alias) named).child() : named;
    LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset) rows).queryExecution().analyzed();
    LogicalPlan chosen = HashedFiles.among(wanted, resolved, plan);
    Dataset few = chosen == plan ? rows : org.apache.spark.sql.classic.Dataset.ofRows(each.sparkSession(), chosen);
    return few.where(ExpressionUtils.column(isSeen()).and(ExpressionUtils.column(place()).geq(0)));
  }

  private Expression isSeen() {
    Expression first = expression("CAST(shiftrightunsigned(" + hash + ", " + wanted.shift + ") AS INT)");
    return new Invoke(literal(wanted.seen), "get", DataTypes.BooleanType, list(first), none(), true, false, true);
  }

  private Expression place() {
    List both = Arrays.asList(new Object[] {literal(wanted.sorted), expression(hash)});
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
