package warehouse.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.delta.actions.AddFile;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.immutable.Seq;

/**
 * The files in which the first rows of an order may be. Where enough rows are known to come no later than some value of
 * the first column that is ordered by, no file whose rows all come after it has one of them. A file of which the log does
 * not say it, or that has NULLs where these come first, may always have one.
 */
final class Topmost {
  private static final List TYPES = Arrays.asList(new Object[] {
      DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType, DataTypes.LongType, DataTypes.DateType,
      DataTypes.TimestampType
  });

  private final boolean descending;
  private final boolean nullsFirst;
  private final DataType type;
  private final String column;

  private Topmost(SortOrder order, String column) {
    this.descending = order.direction() == Descending$.MODULE$;
    this.nullsFirst = order.nullOrdering() == NullsFirst$.MODULE$;
    this.type = order.child().dataType();
    this.column = column;
  }

  /**
   * For what orders a table first by one of its columns, of a type of which the log tells something exact; else null.
   *
   * @param sort of what projections make of the table
   * @param columns the table's
   */
  static Topmost by(Sort sort, AttributeSet columns, Names names) {
    SortOrder order = (SortOrder) sort.order().head();
    Expression by = order.child();
    for (LogicalPlan below = sort.child(); below instanceof Project; below = ((Project) below).child()) {
      by = named(by, ((Project) below).projectList());
    }
    boolean told = by instanceof Attribute && columns.contains((Attribute) by) && TYPES.contains(by.dataType());
    String column = told ? names.inFiles(((Attribute) by).name()) : null;
    return column == null ? null : new Topmost(order, column);
  }

  /** What a column is below a projection. */
  private static Expression named(Expression column, Seq projected) {
    for (int i = 0; i < projected.size(); i++) {
      if (projected.apply(i) instanceof Alias && ((Alias) projected.apply(i)).toAttribute().semanticEquals(column)) {
        return ((Alias) projected.apply(i)).child();
      }
    }
    return column;
  }

  /** What the log says of one file: in the order, its rows lie between two numbers. */
  private static final class Range {
    final AddFile file;
    final Long first;
    final Long last;
    final long rows;
    final boolean always;

    Range(AddFile file, Long first, Long last, long rows, boolean always) {
      this.file = file;
      this.first = first;
      this.last = last;
      this.rows = rows;
      this.always = always;
    }
  }

  /** Those of the files in which the first so many rows may be. */
  AddFile[] files(AddFile[] all, long rows) {
    List known = new ArrayList();
    List kept = new ArrayList();
    for (int i = 0; i < all.length; i++) {
      Range range = range(all[i]);
      if (range == null) {
        kept.add(all[i]);
      } else {
        known.add(range);
      }
    }
    known.sort(new Comparator() {
      public int compare(Object one, Object other) {
        return ((Range) one).last.compareTo(((Range) other).last);
      }
    });
    Long until = null;
    long found = 0;
    for (int i = 0; i < known.size() && until == null; i++) {
      found += ((Range) known.get(i)).rows;
      until = found >= rows ? ((Range) known.get(i)).last : null;
    }
    for (int i = 0; i < known.size(); i++) {
      Range range = (Range) known.get(i);
      if (until == null || range.always || range.first.compareTo(until) <= 0) {
        kept.add(range.file);
      }
    }
    return (AddFile[]) kept.toArray(new AddFile[0]);
  }

  private Range range(AddFile file) {
    Said said = Said.of(file);
    Long nulls = said.nulls(column);
    Long floor = said.floor(column, type);
    Long ceiling = said.ceiling(column, type);
    if (nulls == null || floor == null || ceiling == null || file.numLogicalRecords().isEmpty()) {
      return null;
    }
    long rows = ((Number) file.numLogicalRecords().get()).longValue() - nulls.longValue();
    Long first = descending ? Long.valueOf(~ceiling.longValue()) : floor;
    Long last = descending ? Long.valueOf(~floor.longValue()) : ceiling;
    return new Range(file, first, last, Math.max(0, rows), nullsFirst && nulls.longValue() > 0);
  }
}
