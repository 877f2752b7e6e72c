package warehouse.storage.tasks;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column of texts that is being put together: each with its length, and as long as there may be use for it, the number
 * of the first one that is equal.
 */
final class TextsToPack extends ValuesToPack {
  /** If of so many texts hardly any are alike, numbers are given up. */
  private static final int TRIED = 4096;

  private final boolean compressed;
  private final Codes known = new Codes();
  private short[] codes = new short[1 << 9];
  private int[] distinct = new int[1 << 8];
  private byte[] texts = new byte[1 << 14];
  private int end;
  private int count;
  private long bytesOfRuns;
  private long bytesOfDistinct;
  private boolean numbered;
  private UTF8String least;
  private UTF8String greatest;
  private long leastPrefix;
  private long greatestPrefix;
  private int scheme;

  TextsToPack(boolean compressed) {
    this.compressed = compressed;
    this.numbered = compressed;
  }

  void value(ColumnVector column, int row) {
    value(column.getUTF8String(row));
  }

  void value(InternalRow row, int column) {
    value(row.getUTF8String(column));
  }

  private void value(UTF8String text) {
    boolean fresh = !numbered || number(text);
    if (fresh) {
      bound(text);
    }
    end = put(text, end);
    count++;
    if (count == TRIED && numbered && !pays(bytesOfDistinct + 2 * count, end)) {
      numbered = false;
    }
  }

  private int put(UTF8String text, int place) {
    int after = place + 4 + text.numBytes();
    if (after > texts.length) {
      texts = Arrays.copyOf(texts, Math.max(after, 2 * texts.length));
    }
    Platform.putInt(texts, BASE + place, text.numBytes());
    text.writeToMemory(texts, BASE + place + 4);
    return after;
  }

  /** Give a text its number; whether there was none like it. */
  private boolean number(UTF8String text) {
    int hash = text.hashCode();
    int code = known.first(hash);
    while (code >= 0 && !text.equals(at(distinct[code]))) {
      code = known.next(hash);
    }
    boolean fresh = code < 0;
    if (fresh && known.count() == Short.MAX_VALUE) {
      numbered = false;
      return true;
    }
    if (fresh) {
      code = known.add(hash);
      if (code == distinct.length) {
        distinct = Arrays.copyOf(distinct, 2 * code);
      }
      distinct[code] = end;
      bytesOfDistinct += 4 + text.numBytes();
    }
    if (count == codes.length) {
      codes = Arrays.copyOf(codes, 2 * count);
    }
    codes[count] = (short) code;
    if (count == 0 || codes[count - 1] != code) {
      bytesOfRuns += 8 + text.numBytes();
    }
    return fresh;
  }

  private UTF8String at(int place) {
    return UTF8String.fromAddress(texts, BASE + place + 4, Platform.getInt(texts, BASE + place));
  }

  /** Texts are compared where their first eight bytes do not tell. */
  private void bound(UTF8String text) {
    long prefix = text.getPrefix();
    if (least == null || Long.compareUnsigned(prefix, leastPrefix) <= 0 && text.compareTo(least) < 0) {
      least = text.copy();
      leastPrefix = prefix;
    }
    if (greatest == null || Long.compareUnsigned(prefix, greatestPrefix) >= 0 && text.compareTo(greatest) > 0) {
      greatest = text.copy();
      greatestPrefix = prefix;
    }
  }

  long size() {
    return end;
  }

  Object least() {
    return least;
  }

  Object greatest() {
    return greatest;
  }

  int scheme() {
    return scheme;
  }

  byte[] values(int head) {
    long packed = bytesOfDistinct + 2 * count + 4;
    byte[] found;
    if (!numbered || !pays(Math.min(packed, bytesOfRuns), end)) {
      scheme = Packed.PLAIN;
      found = new byte[head + end];
      System.arraycopy(texts, 0, found, head, end);
    } else if (bytesOfRuns < packed) {
      scheme = Packed.RUNS;
      found = new byte[head + (int) bytesOfRuns];
      runs(found, head);
    } else {
      scheme = Packed.DICTIONARY;
      found = new byte[head + (int) packed];
      dictionary(found, head);
    }
    forget();
    return found;
  }

  private void forget() {
    known.clear();
    end = 0;
    count = 0;
    bytesOfRuns = 0;
    bytesOfDistinct = 0;
    numbered = compressed;
    least = null;
    greatest = null;
  }

  private void runs(byte[] found, int head) {
    int place = head;
    for (int i = 0; i < count; ) {
      int after = i + 1;
      while (after < count && codes[after] == codes[i]) {
        after++;
      }
      place = copy(codes[i], found, place);
      Platform.putInt(found, BASE + place, after - i);
      place += 4;
      i = after;
    }
  }

  private void dictionary(byte[] found, int head) {
    Platform.putInt(found, BASE + head, known.count());
    int place = head + 4;
    for (int code = 0; code < known.count(); code++) {
      place = copy(code, found, place);
    }
    for (int i = 0; i < count; i++) {
      Platform.putShort(found, BASE + place + 2 * i, codes[i]);
    }
  }

  /** Put a text with its length where it belongs; return where it ends. */
  private int copy(int code, byte[] found, int place) {
    int size = 4 + Platform.getInt(texts, BASE + distinct[code]);
    System.arraycopy(texts, distinct[code], found, place, size);
    return place + size;
  }
}
