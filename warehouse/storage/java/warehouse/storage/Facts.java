package warehouse.storage;

import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.Dictionary;
import org.apache.parquet.column.EncodingStats;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.DictionaryPageReadStore;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.metadata.FileMetaData;
import org.apache.parquet.schema.PrimitiveType;

/**
 * What a Parquet file says of its rows and columns: its writer gathered it while it wrote them. The least and the
 * greatest values and the NULLs are in the footer; where all of a column is written by dictionary, the dictionary is
 * the set of its values (Shark's "enum" columns). Files never change, so what was read is kept.
 */
final class Facts {
  /** A set of more values than this is not kept. */
  static final int FEW = 256;

  /** A part of so few rows is read where its writer found no use for a dictionary. */
  private static final int SMALL = 4096;

  private static final int KEPT = 10000;
  private static final Map KNOWN = Collections.synchronizedMap(new Kept());

  final long rows;

  /**
   * By their paths, with dots, as in SQL; those under arrays and maps are left out. A field whose path is another
   * column's name is not told from it: null.
   */
  private final Map columns;

  /** Where the table's columns are among them; null: by the same paths. */
  private final Names names;

  private Facts(long rows, Map columns, Names names) {
    this.rows = rows;
    this.columns = columns;
    this.names = names;
  }

  /** Return the same of a file of a table, whose columns may have had other names when it was written. */
  Facts under(Names names) {
    return new Facts(rows, columns, names);
  }

  /** Return what is known of a column, or null. */
  Column column(String path) {
    return (Column) columns.get(names == null ? path : names.inFiles(path));
  }

  static Facts of(Path file, Configuration configuration) throws IOException {
    Facts known = (Facts) KNOWN.get(file.toString());
    if (known == null) {
      known = read(file, configuration);
      KNOWN.put(file.toString(), known);
    }
    return known;
  }

  private static Facts read(Path file, Configuration configuration) throws IOException {
    ParquetFileReader reader = ParquetFileReader.open(configuration, file);
    try {
      List blocks = reader.getFooter().getBlocks();
      FileMetaData said = reader.getFooter().getFileMetaData();
      List described = said.getSchema().getColumns();
      boolean old = OldCalendar.mayBeOf(said.getKeyValueMetaData());
      Map columns = new HashMap();
      for (int i = 0; i < described.size(); i++) {
        ColumnDescriptor each = (ColumnDescriptor) described.get(i);
        if (each.getMaxRepetitionLevel() == 0) {
          String path = String.join(".", each.getPath());
          Column found = column(reader, blocks, each);
          columns.put(path, columns.containsKey(path) ? null : old ? found.ofOldCalendar() : found);
        }
      }
      long rows = 0;
      for (int i = 0; i < blocks.size(); i++) {
        rows += ((BlockMetaData) blocks.get(i)).getRowCount();
      }
      return new Facts(rows, columns, null);
    } finally {
      reader.close();
    }
  }

  private static Column column(ParquetFileReader reader, List blocks, ColumnDescriptor described) throws IOException {
    PrimitiveType type = described.getPrimitiveType();
    long nulls = 0;
    boolean bounded = true;
    Statistics all = null;
    Set values = new HashSet();
    for (int i = 0; i < blocks.size(); i++) {
      BlockMetaData block = (BlockMetaData) blocks.get(i);
      ColumnChunkMetaData chunk = chunk(block, described);
      Statistics said = chunk.getStatistics();
      boolean counted = said != null && said.isNumNullsSet();
      nulls = counted && nulls >= 0 ? nulls + said.getNumNulls() : -1;
      if (!counted || said.getNumNulls() < chunk.getValueCount()) {
        if (said == null || !said.hasNonNullValue()) {
          bounded = false;
        } else if (all == null) {
          all = said.copy();
        } else {
          all.mergeStatistics(said);
        }
      }
      values = values == null ? null : with(values, reader, block, chunk, described);
    }
    boolean known = bounded && all != null;
    return new Column(
        type, nulls, known ? all.genericGetMin() : null, known ? all.genericGetMax() : null,
        values == null ? null : new ArrayList(values));
  }

  private static ColumnChunkMetaData chunk(BlockMetaData block, ColumnDescriptor described) {
    String path = String.join(".", described.getPath());
    List chunks = block.getColumns();
    for (int i = 0; i < chunks.size(); i++) {
      ColumnChunkMetaData chunk = (ColumnChunkMetaData) chunks.get(i);
      if (chunk.getPath().toDotString().equals(path)) {
        return chunk;
      }
    }
    throw new IllegalStateException("no column " + path);
  }

  /** Return the values with those of one more part of the column, or null when these are not known or too many. */
  private static Set with(
      Set values, ParquetFileReader reader, BlockMetaData block, ColumnChunkMetaData chunk, ColumnDescriptor described)
      throws IOException {
    Statistics said = chunk.getStatistics();
    if (said != null && said.isNumNullsSet() && said.getNumNulls() == chunk.getValueCount()) {
      return values;
    }
    EncodingStats encodings = chunk.getEncodingStats();
    if (encodings == null || !encodings.hasDictionaryPages() || encodings.hasNonDictionaryEncodedPages()) {
      return block.getRowCount() > SMALL ? null : read(values, reader, block, described);
    }
    DictionaryPageReadStore pages = reader.getDictionaryReader(block);
    try {
      DictionaryPage page = pages.readDictionaryPage(described);
      if (page == null || page.getDictionarySize() > FEW) {
        return null;
      }
      Dictionary dictionary = page.getEncoding().initDictionary(described, page);
      for (int id = 0; id <= dictionary.getMaxId(); id++) {
        values.add(value(dictionary, id, described.getPrimitiveType()));
      }
      return values.size() > FEW ? null : values;
    } finally {
      pages.close();
    }
  }

  private static Set read(Set values, ParquetFileReader reader, BlockMetaData block, ColumnDescriptor described)
      throws IOException {
    FileMetaData file = reader.getFooter().getFileMetaData();
    ColumnReader column = new ColumnReadStoreImpl(
        reader.readRowGroup(block.getOrdinal()), new GroupRecordConverter(file.getSchema()).getRootConverter(),
        file.getSchema(), file.getCreatedBy()).getColumnReader(described);
    for (long i = 0; i < column.getTotalValueCount(); i++) {
      if (column.getCurrentDefinitionLevel() == described.getMaxDefinitionLevel()) {
        values.add(value(column, described.getPrimitiveType()));
      }
      column.consume();
    }
    return values.size() > FEW ? null : values;
  }

  private static Object value(ColumnReader column, PrimitiveType type) {
    switch (type.getPrimitiveTypeName()) {
      case BOOLEAN:
        return Boolean.valueOf(column.getBoolean());
      case INT32:
        return Integer.valueOf(column.getInteger());
      case INT64:
        return Long.valueOf(column.getLong());
      case FLOAT:
        return Float.valueOf(column.getFloat());
      case DOUBLE:
        return Double.valueOf(column.getDouble());
      default:
        return column.getBinary().copy();
    }
  }

  private static Object value(Dictionary dictionary, int id, PrimitiveType type) {
    switch (type.getPrimitiveTypeName()) {
      case INT32:
        return Integer.valueOf(dictionary.decodeToInt(id));
      case INT64:
        return Long.valueOf(dictionary.decodeToLong(id));
      case FLOAT:
        return Float.valueOf(dictionary.decodeToFloat(id));
      case DOUBLE:
        return Double.valueOf(dictionary.decodeToDouble(id));
      default:
        return dictionary.decodeToBinary(id);
    }
  }

  /** Forgets what was not asked for the longest time. */
  private static final class Kept extends LinkedHashMap {
    Kept() {
      super(16, 0.75f, true);
    }

    protected boolean removeEldestEntry(Map.Entry eldest) {
      return size() > KEPT;
    }
  }
}
