package warehouse.storage;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;

/**
 * Which share of the rows of files the conditions of a query likely leave, by what the files say of their columns. Joins
 * are planned by it: which side is sent to all tasks, or hashed.
 *
 * <p>All values of a column count alike, and columns do not depend on each other; neither is true of real data. So
 * nothing is taken for smaller than an eighth of what it is: a table sent to all tasks by mistake is then eight times
 * as large as one that may be, and not a thousand times. How much smaller it likely is goes along with the plan, for
 * those who choose between two ways that are both safe. (Statistics of partitions as hints for plans: Shark; Zaharia,
 * 3.4.3. Uniform and independent columns: Selinger et al., <i>Access Path Selection</i>, 1979.)
 */
final class Share {
  /** Where nothing is asked, or nobody wants to know. */
  static final Share ALL = new Share(new ArrayList());

  /** Of a relation's options, or of its first column: by what its size has to be multiplied for that of what is likely left. */
  static final String LIKELY = "warehouse.likely";

  private static final double LEAST = 1.0 / 8;

  /** Of so many files it is asked, which stand for the others. */
  private static final int ASKED = 8;

  /** Conditions on one column each, by its path. */
  private final Map asked = new LinkedHashMap();

  /** @param conditions all of which hold for the rows that are left. */
  Share(List conditions) {
    for (int i = 0; i < conditions.size(); i++) {
      Expression condition = (Expression) conditions.get(i);
      Expression column = Pruning.onlyColumn(condition);
      if (column != null) {
        String path = Pruning.path(column);
        Asked own = (Asked) asked.get(path);
        if (own == null) {
          own = new Asked(path, column.dataType());
          asked.put(path, own);
        }
        own.conditions.add(condition);
      }
    }
  }

  /** Those of files that stand for the others. */
  static List some(List files) {
    List some = new ArrayList();
    for (int i = 0; i < files.size(); i += 1 + (files.size() - 1) / ASKED) {
      some.add(files.get(i));
    }
    return some;
  }

  /** What is taken for the share of the rows of files that is left where it likely is another one. */
  static double atLeast(double likely) {
    return Math.max(likely, LEAST);
  }

  /** How much less than that it likely is. */
  static double ofThat(double likely) {
    return likely / atLeast(likely);
  }

  /** The share of the rows of files that is likely left, by what is known of each: null where nothing is. */
  double of(List files) {
    List some = some(files);
    double rows = 0;
    double left = 0;
    for (int i = 0; i < some.size(); i++) {
      Facts facts = (Facts) some.get(i);
      if (facts != null) {
        rows += facts.rows;
        left += facts.rows * of(facts);
      }
    }
    return rows == 0 ? 1 : left / rows;
  }

  private double of(Facts facts) {
    double share = 1;
    Object[] all = asked.values().toArray();
    for (int i = 0; i < all.length; i++) {
      Asked own = (Asked) all[i];
      Column column = facts.column(own.path);
      if (column != null && facts.rows > 0) {
        share *= own.of(column, facts.rows);
      }
    }
    return share;
  }

  /** What is asked of one column. */
  private static final class Asked {
    final String path;
    final DataType type;
    final List conditions = new ArrayList();

    Asked(String path, DataType type) {
      this.path = path;
      this.type = type;
    }

    double of(Column column, long rows) {
      double there = column.nulls < 0 ? 1 : 1 - (double) column.nulls / rows;
      List values = column.valuesAs(type);
      if (values == null) {
        return there * Math.min(between(column), oneOfMany());
      }
      int left = 0;
      for (int i = 0; i < values.size(); i++) {
        left += leaves(values.get(i)) ? 1 : 0;
      }
      double ofValues = values.isEmpty() ? 0 : there * left / values.size();
      return there < 1 && leaves(null) ? ofValues + 1 - there : ofValues;
    }

    private boolean leaves(Object value) {
      for (int i = 0; i < conditions.size(); i++) {
        try {
          if (!Pruning.isTrue((Expression) conditions.get(i), path, value, type)) {
            return false;
          }
        } catch (RuntimeException failure) {  // the query fails for that value, or has no row with it
          return true;
        }
      }
      return true;
    }

    /** The share of the way from the least to the greatest value that comparisons with constants leave. */
    private double between(Column column) {
      double least = number(column.as(column.least, type));
      double greatest = number(column.as(column.greatest, type));
      double from = least;
      double to = greatest;
      for (int i = 0; i < conditions.size(); i++) {
        Expression condition = (Expression) conditions.get(i);
        if (condition instanceof BinaryComparison && !isEquality(condition)) {
          Expression left = (Expression) condition.children().head();
          Expression right = (Expression) condition.children().last();
          boolean above = condition instanceof GreaterThan || condition instanceof GreaterThanOrEqual;
          if (Pruning.path(left) != null && right instanceof Literal) {
            double bound = number(((Literal) right).value());
            from = above ? Math.max(from, bound) : from;
            to = above ? to : Math.min(to, bound);
          } else if (left instanceof Literal && Pruning.path(right) != null) {
            double bound = number(((Literal) left).value());
            to = above ? Math.min(to, bound) : to;
            from = above ? from : Math.max(from, bound);
          }
        }
      }
      double share = (to - from) / (greatest - least);
      return share < 0 ? 0 : share < 1 ? share : 1;  // neither a number where bounds are none
    }

    /** The share that one value has, or some, of more than are kept as a set. */
    private double oneOfMany() {
      double share = 1;
      for (int i = 0; i < conditions.size() && !(type instanceof BooleanType); i++) {
        Expression condition = (Expression) conditions.get(i);
        double values = isEquality(condition) || condition instanceof IsNull ? 1
            : condition instanceof In ? ((In) condition).list().size()
            : condition instanceof InSet ? ((InSet) condition).hset().size() : Facts.FEW;
        share = Math.min(share, values / Facts.FEW);
      }
      return share;
    }

    private static boolean isEquality(Expression condition) {
      return condition instanceof EqualTo || condition instanceof EqualNullSafe;
    }

    /** A value of Spark's as a number, which those of a column keep the order of; NaN where there is none. */
    private static double number(Object value) {
      return value instanceof Decimal ? ((Decimal) value).toDouble()
          : value instanceof Number ? ((Number) value).doubleValue() : Double.NaN;
    }
  }
}
