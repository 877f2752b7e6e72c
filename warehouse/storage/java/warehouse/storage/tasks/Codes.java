package warehouse.storage.tasks;

import java.util.Arrays;

/**
 * Numbers different values in the order in which they come. It knows their hashes only: whoever has a value asks for
 * one number after the other that has its hash, and adds it where none is of an equal value.
 */
final class Codes {
  /** A number and one, or 0 where there is none; twice as many places as numbers at least. */
  private int[] places = new int[1 << 9];

  private int[] hashes = new int[1 << 8];
  private int count;
  private int place;

  /** Forget all of them. */
  void clear() {
    if (count > 0) {
      Arrays.fill(places, 0);
      count = 0;
    }
  }

  int count() {
    return count;
  }

  /** The first number of a value with a hash, or -1. */
  int first(int hash) {
    place = hash & places.length - 1;
    return found(hash);
  }

  /** The one after that, or -1. */
  int next(int hash) {
    place = place + 1 & places.length - 1;
    return found(hash);
  }

  private int found(int hash) {
    int number = places[place] - 1;
    while (number >= 0 && hashes[number] != hash) {
      place = place + 1 & places.length - 1;
      number = places[place] - 1;
    }
    return number;
  }

  /** Give a value the next number, whose hash was looked for in vain. */
  int add(int hash) {
    if (count == hashes.length) {
      grow();
      first(hash);
      while (places[place] != 0) {
        next(hash);
      }
    }
    hashes[count] = hash;
    count++;
    places[place] = count;
    return count - 1;
  }

  private void grow() {
    hashes = Arrays.copyOf(hashes, 2 * count);
    places = new int[4 * count];
    for (int number = 0; number < count; number++) {
      int free = hashes[number] & places.length - 1;
      while (places[free] != 0) {
        free = free + 1 & places.length - 1;
      }
      places[free] = number + 1;
    }
  }
}
