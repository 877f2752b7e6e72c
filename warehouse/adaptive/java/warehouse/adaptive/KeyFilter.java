package warehouse.adaptive;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.joins.HashedRelation;
import org.apache.spark.util.collection.BitSet;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * A Bloom filter, of one hash, of the keys that a join has hashed, in its generated code. To look a row up Spark writes
 * its key as a row first; where few rows meet another one, a hash and a bit are all that most of them need.
 */
final class KeyFilter {
  private static final String SETTING = "warehouse.join.keyFilter";

  /** For each key there are at least so many bits, so that of other keys one in so many passes. */
  private static final int BITS = 16;
  private static final int MOST_BITS = 1 << 24;

  private final CodegenContext context;
  private final String name;

  /** Adds the filter of a table of hashed rows to the code that makes it: the table's name there, and its keys. */
  KeyFilter(CodegenContext context, final String relation, Seq keys) {
    this.context = context;
    final String filled = filling(keys);
    name = context.addMutableState(
        BitSet.class.getName(), "keyFilter",
        new AbstractFunction1() {
          public Object apply(Object state) {
            return state + " = " + filled + "(" + relation + ");";
          }
        },
        true, true);
  }

  /** Whether one pays: most rows likely are not hashed, and a key is not a single number, which Spark takes as it is. */
  static boolean pays(SparkPlan hashed, Seq keys) {
    return Switch.isOn(hashed.conf(), SETTING) && !ByNumber.isNumber(keys) && leavesOut(hashed);
  }

  private static boolean leavesOut(SparkPlan rows) {
    SparkPlan scan = Expected.scan(rows);
    if (scan != null) {
      return Expected.share(scan) < 1;
    }
    boolean found = rows instanceof FilterExec && Sides.isOpaque(((FilterExec) rows).condition());
    List children = CollectionConverters.asJava(rows.children());
    for (int i = 0; i < children.size() && !found; i++) {
      found = leavesOut((SparkPlan) children.get(i));
    }
    return found;
  }

  /** The code of the hash of a row's keys, to be generated before that of the keys themselves. */
  ExprCode hash(Seq keys, Seq row) {
    context.currentVars_$eq(row);
    return new XxHash64(keys).genCode(context);
  }

  /** A key's code, and that of whether there is none, with nothing of it run for hashes that did not pass. */
  Tuple2 guarded(ExprCode hash, Tuple2 key) {
    ExprCode made = (ExprCode) key._1();
    String absent = context.freshName("absent");
    String code = hash.code() + "\nboolean " + absent + " = !" + name + ".get(" + bit(hash, name) + ");\n"
        + "if (!" + absent + ") {\n" + made.code() + "\n" + absent + " = " + key._2() + ";\n}\n";
    CodeBlock block = new CodeBlock(Wrapper.seq(new Object[] {code}), Wrapper.seq(new Object[0]));
    return new Tuple2(new ExprCode(block, made.isNull(), made.value()), absent);
  }

  private static String bit(ExprCode hash, String bits) {
    return "(int) " + hash.value() + " & (" + bits + ".capacity() - 1)";
  }

  /** Generates a method that makes the filter, and returns its name. */
  private String filling(Seq keys) {
    Object[] columns = new Object[keys.size()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = new BoundReference(i, ((Expression) keys.apply(i)).dataType(), false);
    }
    Seq before = context.currentVars();
    String rowBefore = context.INPUT_ROW();
    context.currentVars_$eq(null);
    context.INPUT_ROW_$eq("key");
    ExprCode hash = new XxHash64(Wrapper.seq(columns)).genCode(context);
    context.currentVars_$eq(before);
    context.INPUT_ROW_$eq(rowBefore);
    String filled = context.freshName("filledKeyFilter");
    String all = Iterator.class.getName() + " keys = relation.keys();";
    return context.addNewFunction(
        filled,
        "private " + BitSet.class.getName() + " " + filled + "(" + HashedRelation.class.getName() + " relation) {\n"
            + "int count = 1;\n"
            + "for (" + all + " keys.hasNext(); keys.next()) {\ncount++;\n}\n"
            + BitSet.class.getName() + " bits = new " + BitSet.class.getName() + "("
            + "(int) Math.min(" + 2 * BITS + "L * Integer.highestOneBit(count), " + MOST_BITS + "));\n"
            + "for (" + all + " keys.hasNext(); ) {\n"
            + InternalRow.class.getName() + " key = (" + InternalRow.class.getName() + ") keys.next();\n"
            + hash.code() + "\nbits.set(" + bit(hash, "bits") + ");\n}\nreturn bits;\n}\n",
        false);
  }
}
