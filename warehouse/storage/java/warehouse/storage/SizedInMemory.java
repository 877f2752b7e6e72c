package warehouse.storage;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.execution.columnar.InMemoryRelation;
import scala.collection.immutable.Seq;
import scala.math.BigInt;

/** A table in memory that says how many bytes of its files a query likely wants, where Spark's says what it takes there. */
public final class SizedInMemory extends InMemoryRelation {
  private final BigInt rows;
  private final BigInt columns;

  /**
   * @param rows the bytes of the rows that are likely wanted.
   * @param columns of these, the bytes of the columns that are.
   */
  SizedInMemory(InMemoryRelation table, BigInt rows, BigInt columns) {
    super(table.output(), table.cacheBuilder(), table.outputOrdering());
    this.rows = rows;
    this.columns = columns;
    statsOfPlanToCache_$eq(table.statsOfPlanToCache());
  }

  /** What plans over it are judged by; it is they who leave out columns. */
  public Statistics stats() {
    return of(rows);
  }

  /** What adaptive execution takes for the size of the whole that has read it. */
  public Statistics computeStats() {
    return of(columns);
  }

  private Statistics of(BigInt bytes) {
    Statistics known = super.computeStats();
    return known.copy(bytes, known.rowCount(), known.attributeStats(), known.isRuntime());
  }

  public InMemoryRelation withOutput(Seq output) {
    return new SizedInMemory(super.withOutput(output), rows, columns);
  }

  /** Spark plans a copy of what it has optimized. */
  public LogicalPlan clone() {
    return new SizedInMemory((InMemoryRelation) super.clone(), rows, columns);
  }

  /** Spark keeps a node in place of another one that is equal. */
  public boolean canEqual(Object other) {
    return other instanceof SizedInMemory;
  }

  public boolean equals(Object other) {
    return canEqual(other) && ((SizedInMemory) other).rows.equals(rows)
        && ((SizedInMemory) other).columns.equals(columns) && super.equals(other);
  }

  public int hashCode() {
    return super.hashCode();
  }
}
