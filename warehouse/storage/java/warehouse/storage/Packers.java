package warehouse.storage;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.apache.spark.sql.columnar.CachedBatchSerializer;
import org.apache.spark.sql.execution.columnar.DefaultCachedBatchSerializer;
import org.apache.spark.sql.execution.columnar.InMemoryRelation$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.internal.SQLConf$;
import scala.Option;
import warehouse.storage.tasks.Packer;

/**
 * Spark's memory store is filled by {@link Packer}, unless `spark.sql.cache.serializer` says by whom: Spark looks for that
 * class where it is itself, once, and no source of ours is there.
 */
final class Packers {
  private Packers() {}

  static synchronized void use() {
    try {
      Method own = InMemoryRelation$.class.getDeclaredMethod("getSerializer", new Class[] {SQLConf.class});
      own.setAccessible(true);
      Object chosen = own.invoke(InMemoryRelation$.MODULE$, new Object[] {SQLConf$.MODULE$.get()});
      if (chosen.getClass() == DefaultCachedBatchSerializer.class) {
        Field kept = InMemoryRelation$.class.getDeclaredField("ser");
        kept.setAccessible(true);
        kept.set(null, Option.apply(new Packer()));
      }
    } catch (ReflectiveOperationException none) {
      throw new IllegalStateException(none);
    }
  }

  /** Whether batches are kept as Spark keeps them. */
  static boolean known(CachedBatchSerializer serializer) {
    return serializer instanceof Packer || serializer.getClass() == DefaultCachedBatchSerializer.class;
  }
}
