package warehouse.execution.tasks;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.util.collection.BitSet;

/** Few numbers that many are looked up among: by the first bits of each, then in order. */
public final class Numbers implements Serializable {
  /** Bits for each number: of others, one in so many passes the first look. */
  private static final int BITS = 64;
  private static final int MOST_BITS = 1 << 24;

  public final long[] sorted;

  /** The first bits of the numbers; `shift` is how many others they have. */
  public final BitSet seen;
  public final int shift;

  public Numbers(long[] numbers) {
    sorted = (long[]) numbers.clone();
    Arrays.sort(sorted);
    int bits = Math.min(Integer.highestOneBit(Math.max(sorted.length, 2)) * BITS, MOST_BITS);
    shift = 64 - Integer.numberOfTrailingZeros(bits);
    seen = new BitSet(bits);
    for (int i = 0; i < sorted.length; i++) {
      seen.set((int) (sorted[i] >>> shift));
    }
  }

  boolean have(long number) {
    return seen.get((int) (number >>> shift)) && Arrays.binarySearch(sorted, number) >= 0;
  }
}
