package warehouse.execution.tasks;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.internal.column.columnindex.OffsetIndex;
import org.apache.parquet.internal.filter2.columnindex.RowRanges;
import org.apache.spark.sql.execution.datasources.RecordReaderIterator;
import org.apache.spark.sql.execution.datasources.parquet.SpecificParquetRecordReaderBase;
import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader;

/**
 * The row groups that Spark's reader of a Parquet file is going to read, which can be told to give some of their rows.
 * Parquet's own reader takes ranges of rows, and Spark's reads what that gives, as where a page's statistics leave pages
 * out. But Spark has no door between the two: they are found by reflection, and where they are not, all rows are read.
 */
final class RowGroups implements InvocationHandler {
  private static final Field ITERATED = field(RecordReaderIterator.class, "rowReader");
  private static final Field GROUPS = field(SpecificParquetRecordReaderBase.class, "reader");
  private static final Field ROWS = field(SpecificParquetRecordReaderBase.class, "totalRowCount");

  private final SpecificParquetRecordReaderBase reader;
  private final ParquetFileReader file;
  private long[] chosen;
  private int group;

  private RowGroups(SpecificParquetRecordReaderBase reader, ParquetFileReader file) {
    this.reader = reader;
    this.file = file;
  }

  /** Those of an iterator of Spark's that was asked for nothing yet; null where it is none over vectors of Parquet. */
  static RowGroups of(Object rows) {
    if (ITERATED == null || GROUPS == null || ROWS == null || !(rows instanceof RecordReaderIterator)) {
      return null;
    }
    Object reader = value(ITERATED, rows);
    if (!(reader instanceof VectorizedParquetRecordReader)) {
      return null;
    }
    Object groups = value(GROUPS, reader);
    Field inside = field(groups.getClass(), "reader");
    Object file = inside == null ? null : value(inside, groups);
    RowGroups found = new RowGroups((SpecificParquetRecordReaderBase) reader, (ParquetFileReader) file);
    return file != null && found.haveOffsets() ? found : null;
  }

  /** Whether the file says where each page of its columns begins. */
  private boolean haveOffsets() {
    List groups = file.getRowGroups();
    for (int i = 0; i < groups.size(); i++) {
      List columns = ((BlockMetaData) groups.get(i)).getColumns();
      for (int j = 0; j < columns.size(); j++) {
        if (((ColumnChunkMetaData) columns.get(j)).getOffsetIndexReference() == null) {
          return false;
        }
      }
    }
    return true;
  }

  /** How many rows there are. */
  long rows() {
    return file.getFilteredRecordCount();
  }

  /** Let the iterator give these rows alone, as far as it was to give them: by their numbers in the file, in order. */
  void choose(long[] numbers) {
    chosen = numbers;
    long rows = 0;
    for (int i = 0; i < file.getRowGroups().size(); i++) {
      BlockMetaData block = (BlockMetaData) file.getRowGroups().get(i);
      rows += place(block.getRowIndexOffset() + block.getRowCount()) - place(block.getRowIndexOffset());
    }
    Class groups = GROUPS.getType();
    try {
      ROWS.setLong(reader, rows);
      GROUPS.set(reader, Proxy.newProxyInstance(groups.getClassLoader(), new Class[] {groups}, this));
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What Spark's reader asks: for the next row group, or to close. */
  public Object invoke(Object proxy, Method method, Object[] given) throws Throwable {
    if (method.getName().equals("close")) {
      file.close();
      return null;
    }
    while (true) {
      BlockMetaData block = (BlockMetaData) file.getRowGroups().get(group++);
      RowRanges ranges = ranges(block.getRowIndexOffset(), block.getRowCount());
      if (ranges.rowCount() > 0) {
        return file.readFilteredRowGroup(group - 1, ranges);
      }
    }
  }

  /** The chosen rows of a group that begins with a row and has so many, by their numbers in the group. */
  private RowRanges ranges(long first, long count) {
    int from = place(first);
    int[] pages = new int[place(first + count) - from];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = from + i;
    }
    return RowRanges.create(count, Arrays.stream(pages).iterator(), new Rows(first));
  }

  /** How many of the chosen rows are before a row. */
  private int place(long number) {
    int found = Arrays.binarySearch(chosen, number);
    return found < 0 ? -found - 1 : found;
  }

  /** Each chosen row as what Parquet makes ranges of: a page of one row. */
  private final class Rows implements OffsetIndex {
    private final long first;

    private Rows(long first) {
      this.first = first;
    }

    public int getPageCount() {
      return chosen.length;
    }

    public long getOffset(int page) {
      return 0;
    }

    public int getCompressedPageSize(int page) {
      return 0;
    }

    public long getFirstRowIndex(int page) {
      return chosen[page] - first;
    }

    public long getLastRowIndex(int page, long rows) {
      return chosen[page] - first;
    }
  }

  private static Field field(Class of, String name) {
    try {
      Field field = of.getDeclaredField(name);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException other) {
      return null;
    }
  }

  private static Object value(Field field, Object of) {
    try {
      return field.get(of);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
