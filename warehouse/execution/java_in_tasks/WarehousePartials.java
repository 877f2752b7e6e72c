package org.apache.spark.sql.catalyst.util;

import java.math.BigInteger;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;

/**
 * What partial results of aggregates are made of and what comes of them, as functions that generated code calls; see
 * `PartialFunctions`. A class of Spark's package and loader, or tasks would not see it.
 */
public final class WarehousePartials {
  /** Bits of a unit, and of the place of a register in a word and in what `register` gives. */
  private static final int UNIT = 32;
  private static final int REGISTER = 6;
  /** Numbers are cut to multiples of 2^LEAST; their products are such of 2^(2 LEAST). */
  private static final int LEAST = -96;
  private static final double BEYOND = 0x1p128;
  private static final int MANTISSA = 52;
  private static final long HIDDEN = 1L << MANTISSA;

  private WarehousePartials() {}

  /**
   * The whole number of 2^(32·power), less than 2^32, in the exact product of two numbers, which are cut to multiples of
   * 2^-96; those of powers -6 to 7 make it up. 0 where one of the numbers is not within 2^128.
   */
  public static long unit(double one, double other, int power) {
    int from = UNIT * power - exponent(one) - exponent(other);
    if (from <= -UNIT || from >= 2 * (MANTISSA + 1) || !(Math.abs(one) < BEYOND && Math.abs(other) < BEYOND)) {
      return 0;
    }
    long first = mantissa(one);
    long second = mantissa(other);
    long low = first * second;
    long high = Math.multiplyHigh(first, second);
    long bits;
    if (from >= 64) {
      bits = high >>> (from - 64);
    } else if (from > 0) {
      bits = low >>> from | high << (64 - from);
    } else {
      bits = low << -from;
    }
    bits &= 0xffffffffL;
    return one < 0 == other < 0 ? bits : -bits;
  }

  private static int exponent(double number) {
    return Math.getExponent(number) - MANTISSA;
  }

  private static long mantissa(double number) {
    int below = LEAST - exponent(number);
    if (below > MANTISSA) {
      return 0;
    }
    long whole = Double.doubleToRawLongBits(number) & (HIDDEN - 1) | HIDDEN;
    return below > 0 ? whole >>> below << below : whole;
  }

  /**
   * (n·Σxy − Σx·Σy) / (n·divisor), rounded once. The sums are of `unit`: of products with powers from -6 on, of the
   * numbers from -3 on.
   */
  public static double covariance(long n, long divisor, ArrayData xy, ArrayData x, ArrayData y) {
    BigInteger rows = BigInteger.valueOf(n);
    BigInteger spread = total(xy).multiply(rows).subtract(total(x).multiply(total(y)));
    return quotient(spread, rows.multiply(BigInteger.valueOf(divisor)), 2 * LEAST);
  }

  private static BigInteger total(ArrayData units) {
    BigInteger total = BigInteger.ZERO;
    for (int i = units.numElements() - 1; i >= 0; i--) {
      total = total.shiftLeft(UNIT).add(BigInteger.valueOf(units.getLong(i)));
    }
    return total;
  }

  /** dividend / divisor · 2^power. */
  private static double quotient(BigInteger dividend, BigInteger divisor, int power) {
    int further = Math.max(0, divisor.bitLength() - dividend.bitLength() + 2 * UNIT);
    BigInteger[] parts = dividend.shiftLeft(further + 1).divideAndRemainder(divisor);
    // a last bit that says that there is more: it decides where the bits before it are half of what is rounded
    BigInteger whole = parts[1].signum() == 0 || parts[0].testBit(0) ? parts[0]
        : parts[0].add(BigInteger.valueOf(parts[1].signum()));
    return Math.scalb(whole.doubleValue(), power - further - 1);
  }

  /** The register of HyperLogLog++ that a hash falls into, and what it would be, in the last six bits. */
  public static int register(long hash, double error) {
    int bits = (int) Math.ceil(2.0d * Math.log(1.106d / error) / Math.log(2.0d));
    int zeros = Long.numberOfLeadingZeros(hash << bits | 1L << (bits - 1));
    return (int) (hash >>> (64 - bits)) << REGISTER | zeros + 1;
  }

  /** Of each register what is largest. */
  public static ArrayData largest(ArrayData registers) {
    int[] sorted = registers.toIntArray();
    Arrays.sort(sorted);
    int kept = 0;
    for (int i = 0; i < sorted.length; i++) {
      if (i + 1 == sorted.length || sorted[i] >> REGISTER != sorted[i + 1] >> REGISTER) {
        sorted[kept++] = sorted[i];
      }
    }
    return UnsafeArrayData.fromPrimitiveArray(Arrays.copyOf(sorted, kept));
  }

  /** What Spark's approx_count_distinct says of these registers, the `largest`; all others are 0. */
  public static long estimate(ArrayData registers, double error) {
    HyperLogLogPlusPlusHelper helper = new HyperLogLogPlusPlusHelper(error);
    long[] words = new long[helper.numWords()];
    int perWord = HyperLogLogPlusPlusHelper.REGISTERS_PER_WORD();
    for (int i = 0; i < registers.numElements(); i++) {
      int place = registers.getInt(i) >> REGISTER;
      long value = registers.getInt(i) & (1 << REGISTER) - 1;
      words[place / perWord] |= value << place % perWord * HyperLogLogPlusPlusHelper.REGISTER_SIZE();
    }
    Object[] buffer = new Object[words.length];
    for (int i = 0; i < words.length; i++) {
      buffer[i] = Long.valueOf(words[i]);
    }
    return helper.query(new GenericInternalRow(buffer), 0);
  }
}
