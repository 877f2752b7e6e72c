package warehouse.endpoint;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows in Arrow's format, for a client that asks for it: the protocol has no types for what is within an array, a map or
 * a struct. Each row of one column is a whole stream; the first has the schema alone, the others some of the rows.
 */
class Parcels implements Iterable {
  /** What a client sets for its session to get them. */
  static final String ASKED = "warehouse.rows.arrow";

  static final StructType SCHEMA = new StructType().add(ASKED, DataTypes.BinaryType);

  private static final int MANY = 1000; // rows in one of them

  private final org.apache.spark.sql.classic.Dataset result;
  private final String zone;

  /** @param zone of the instants; all that is in the rows is of a type that Arrow knows */
  Parcels(org.apache.spark.sql.Dataset result, String zone) {
    this.result = (org.apache.spark.sql.classic.Dataset) result;
    this.zone = zone;
  }

  public Iterator iterator() {
    final Iterator rows = new Rows(result).iterator();
    final ExpressionEncoder.Serializer internal = result.exprEnc().createSerializer();
    return new Iterator() {
      private boolean begun;

      public boolean hasNext() {
        return !begun || rows.hasNext();
      }

      public Object next() {
        if (!begun) {
          begun = true;
          return RowFactory.create(new Object[] {empty()});
        }
        List some = new ArrayList();
        while (some.size() < MANY && rows.hasNext()) {
          some.add(((org.apache.spark.sql.catalyst.InternalRow) internal.apply(rows.next())).copy());
        }
        return RowFactory.create(new Object[] {packed(some)});
      }
    };
  }

  byte[] empty() {
    return ArrowConverters$.MODULE$.createEmptyArrowBatch(result.schema(), zone, false, false);
  }

  byte[] packed(List rows) {
    scala.collection.Iterator made = ArrowConverters$.MODULE$.toBatchWithSchemaIterator(
        CollectionConverters.asScala(rows.iterator()), result.schema(), rows.size(), Long.MAX_VALUE, zone, false, false);
    byte[] one = (byte[]) made.next();
    made.hasNext(); // at whose end it gives its memory back
    return one;
  }
}
