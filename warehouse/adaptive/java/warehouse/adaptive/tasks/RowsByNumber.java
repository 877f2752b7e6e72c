package warehouse.adaptive.tasks;

import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.joins.HashedRelation;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.array.LongArray;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * The rows of one side of a join by their key, a number. They lie in memory as they came, and the places by which they
 * are found lie in the order of the keys: who asks for one key after the other walks through memory, where places in
 * the order of a hash are all over it. Tables that are distributed by a key often have it in order in each partition.
 * Where keys are so uneven that many of them share a place, places go by a hash after all.
 */
public final class RowsByNumber extends MemoryConsumer implements HashedRelation {
  /** What stands before each row: at a place begins a chain of keys, at a key a chain of its rows; 0 ends them. */
  private static final int NEXT_KEY = 0;
  private static final int NEXT_ROW = 8;
  private static final int KEY = 16;
  private static final int SIZE = 24;
  private static final int ROW = 32;

  /** Where the first row is: no row is at 0. */
  private static final long FIRST = 8;

  private static final int WORDS_AT_FIRST = 1 << 15;

  /** Keys at one place, at most, unless places go by a hash. */
  private static final int LONGEST_CHAIN = 16;

  /** Products with it are as if at random. Source: Knuth, The Art of Computer Programming, 6.4, Fibonacci hashing. */
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private LongArray rows;
  private Object base;
  private long offset;
  private long end = FIRST;
  private long count;
  private long least = Long.MAX_VALUE;
  private long greatest = Long.MIN_VALUE;

  /** A key's place is (key - origin) * factor >>> shift. */
  private LongArray places;
  private long placesInUse;
  private long origin;
  private long factor;
  private int shift;
  private final Matches matches = new Matches();
  private UnsafeRow match;
  private boolean asked;
  private long last;
  private long found;

  RowsByNumber(TaskMemoryManager memory) {
    super(memory, memory.getTungstenMemoryMode());
    keep(allocateArray(WORDS_AT_FIRST));
  }

  private void keep(LongArray array) {
    rows = array;
    base = array.getBaseObject();
    offset = array.getBaseOffset();
  }

  void add(long key, UnsafeRow row) {
    int size = row.getSizeInBytes();
    while (end + ROW + size > 8 * rows.size()) {
      LongArray before = rows;
      LongArray larger = allocateArray(2 * before.size());
      Platform.copyMemory(base, offset, larger.getBaseObject(), larger.getBaseOffset(), end);
      keep(larger);
      freeArray(before);
    }
    set(end + KEY, key);
    set(end + SIZE, size);
    Platform.copyMemory(row.getBaseObject(), row.getBaseOffset(), base, offset + end + ROW, size);
    end += ROW + size;
    if (count == 0) {
      match = new UnsafeRow(row.numFields());
    }
    count++;
    least = Math.min(least, key);
    greatest = Math.max(greatest, key);
  }

  /** To be called once all rows are there. */
  void arrange() {
    if (count == 0) {
      return;
    }
    int bits = 65 - Long.numberOfLeadingZeros(count - 1);
    long range = greatest - least;
    origin = least;
    factor = 1;
    shift = Math.max(0, 64 - Long.numberOfLeadingZeros(range) - bits);
    if (!chained((range >>> shift) + 1, LONGEST_CHAIN)) {
      freePlaces();
      origin = 0;
      factor = GOLDEN;
      shift = 64 - bits;
      chained(1L << bits, Integer.MAX_VALUE);
    }
  }

  /** Whether all rows were put into so many chains, none of which has become longer. */
  private boolean chained(long number, int longest) {
    places = allocateArray(number);
    places.zeroOut();
    placesInUse = number;
    for (long row = FIRST; row < end; row += ROW + word(row + SIZE)) {
      long key = word(row + KEY);
      long place = place(key);
      long first = firstAt(place);
      long same = first;
      int keys = 1;
      while (same != 0 && word(same + KEY) != key) {
        same = word(same + NEXT_KEY);
        keys++;
      }
      if (keys > longest) {
        return false;
      }
      if (same == 0) {
        set(row + NEXT_KEY, first);
        set(row + NEXT_ROW, 0);
        Platform.putLong(places.getBaseObject(), places.getBaseOffset() + 8 * place, row);
      } else {
        set(row + NEXT_ROW, word(same + NEXT_ROW));
        set(same + NEXT_ROW, row);
      }
    }
    return true;
  }

  private long place(long key) {
    return (key - origin) * factor >>> shift;
  }

  private long firstAt(long place) {
    return Platform.getLong(places.getBaseObject(), places.getBaseOffset() + 8 * place);
  }

  private long find(long key) {
    long place = place(key);
    long row = place >= 0 && place < placesInUse ? firstAt(place) : 0;
    while (row != 0 && word(row + KEY) != key) {
      row = word(row + NEXT_KEY);
    }
    return row;
  }

  private long word(long at) {
    return Platform.getLong(base, offset + at);
  }

  private void set(long at, long value) {
    Platform.putLong(base, offset + at, value);
  }

  /** The rows of a key, or null; to be read before the next call. */
  public Iterator get(long key) {
    if (key != last || !asked) {
      found = find(key);
      last = key;
      asked = true;
    }
    matches.at = found;
    return found == 0 ? null : matches;
  }

  private final class Matches extends AbstractIterator {
    private long at;

    public boolean hasNext() {
      return at != 0;
    }

    public Object next() {
      match.pointTo(base, offset + at + ROW, (int) word(at + SIZE));
      at = word(at + NEXT_ROW);
      return match;
    }
  }

  /** Not known, and not asked for by generated code, which takes all rows of a key. */
  public boolean keyIsUnique() {
    return false;
  }

  public long estimatedSize() {
    return getUsed();
  }

  /** Rows stay where they are: without them there is no join. */
  public long spill(long size, MemoryConsumer trigger) {
    return 0;
  }

  /** Generated code asks by the number alone. */
  public Iterator get(InternalRow key) {
    throw new UnsupportedOperationException();
  }

  public InternalRow getValue(InternalRow key) {
    throw new UnsupportedOperationException();
  }

  public Iterator keys() {
    throw new UnsupportedOperationException();
  }

  public HashedRelation asReadOnlyCopy() {
    throw new UnsupportedOperationException();
  }

  public void close() {
    if (rows != null) {
      freeArray(rows);
      rows = null;
    }
    freePlaces();
  }

  private void freePlaces() {
    if (places != null) {
      freeArray(places);
      places = null;
    }
  }
}
