package warehouse.storage.tasks;

import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;
import scala.collection.AbstractIterator;

/**
 * The batches of files that were packed in this process, known for as long as the memory store has them or nobody wants
 * their memory: references are soft.
 */
final class FilesInMemory {
  /** Files, at most. */
  private static final int MOST = 10_000;

  /** A name that nobody gives a second file. */
  private static final Pattern UNIQUE = Pattern.compile(".*[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}.*");

  /** By keys, those that were asked for last at the end: soft references to batches. */
  private static final Map KNOWN = new LinkedHashMap(16, 0.75f, true);

  private FilesInMemory() {}

  /** What a file of a layout is known by; null where another one may come to have its name. */
  static String key(String file, String layout) {
    Path path = new Path(file);
    return UNIQUE.matcher(path.getName()).matches() ? path.toUri().getPath() + "\n" + layout : null;
  }

  /** All batches of a file, or null. */
  static Object[] batches(String key) {
    synchronized (KNOWN) {
      List known = (List) KNOWN.get(key);
      Object[] found = new Object[known == null ? 0 : known.size()];
      for (int i = 0; i < found.length; i++) {
        found[i] = ((SoftReference) known.get(i)).get();
        if (found[i] == null) {
          KNOWN.remove(key);
          return null;
        }
      }
      return known == null ? null : found;
    }
  }

  /** From now on know all batches of a file, to which there are these soft references. */
  static void keep(String key, List batches) {
    synchronized (KNOWN) {
      KNOWN.put(key, batches);
      if (KNOWN.size() > MOST) {
        Iterator oldest = KNOWN.keySet().iterator();
        oldest.next();
        oldest.remove();
      }
    }
  }

  /** The same batches of a file, which is known once all of them have been taken. */
  static scala.collection.Iterator kept(final String key, final scala.collection.Iterator batches) {
    return new AbstractIterator() {
      private final List taken = new ArrayList();
      private boolean ended;

      public boolean hasNext() {
        boolean more = batches.hasNext();
        if (!more && !ended) {
          keep(key, taken);
          ended = true;
        }
        return more;
      }

      public Object next() {
        Object batch = batches.next();
        taken.add(new SoftReference(batch));
        return batch;
      }
    };
  }
}
