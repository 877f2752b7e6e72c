package warehouse.execution.tasks;

import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The hashes of a file's rows, in the order of the rows. Of the files that were read last they stay in memory, up to a
 * sixteenth of it, as files of state do not change: eight bytes a row, where the row would have to be taken apart.
 */
final class KeptHashes {
  private static final long MOST = Runtime.getRuntime().maxMemory() / 16 / 8;
  private static final Map KEPT = new LinkedHashMap(16, 0.75f, true);
  private static long kept;

  private final long first;
  private final long[] hashes;

  /** @param first the number of the first row in the file */
  KeptHashes(long first, long[] hashes) {
    this.first = first;
    this.hashes = hashes;
  }

  /** What was kept by a name, or null. */
  static KeptHashes of(String name) {
    synchronized (KEPT) {
      return (KeptHashes) KEPT.get(name);
    }
  }

  /** Keep these until others, which are used sooner, need the room. */
  void keep(String name) {
    synchronized (KEPT) {
      if (hashes.length > MOST || KEPT.containsKey(name)) {
        return;
      }
      KEPT.put(name, this);
      kept += hashes.length;
      for (Iterator oldest = KEPT.values().iterator(); kept > MOST;) {
        kept -= ((KeptHashes) oldest.next()).hashes.length;
        oldest.remove();
      }
    }
  }

  /** The numbers of the rows whose hash is among those that are wanted, in order; null where there are more than `most`. */
  long[] among(Numbers wanted, long most) {
    long[] found = new long[wanted.sorted.length + 16];
    int count = 0;
    for (int i = 0; i < hashes.length; i++) {
      if (wanted.have(hashes[i])) {
        if (count == most) {
          return null;
        }
        if (count == found.length) {
          found = Arrays.copyOf(found, 2 * count);
        }
        found[count++] = first + i;
      }
    }
    return Arrays.copyOf(found, count);
  }
}
