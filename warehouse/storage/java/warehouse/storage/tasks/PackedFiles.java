package warehouse.storage.tasks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.columnar.CachedBatch;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The batches of the files of a table. Those of a file that this process packed before, when it wrote or when it last
 * read it, are taken as they are ({@link FilesInMemory}): what a statement does not change is not read again.
 */
final class PackedFiles extends RDD {
  /** Files of fewer bytes are packed together, or batches would be small. */
  private static final long SMALL = 1 << 20;

  private final Packing packing;

  /** @param files a `FileScanRDD` of batches of vectors. */
  PackedFiles(RDD files, Packing packing) {
    super(files, ClassTag$.MODULE$.apply(CachedBatch.class));
    this.packing = packing;
  }

  private RDD files() {
    return firstParent(ClassTag$.MODULE$.Any());
  }

  public Partition[] getPartitions() {
    return files().partitions();
  }

  public Seq getPreferredLocations(Partition split) {
    return files().preferredLocations(split);
  }

  public Iterator compute(Partition split, final TaskContext context) {
    final List parts = parts((FilePartition) split);
    return new AbstractIterator() {
      private Iterator batches = Nil$.MODULE$.iterator();
      private int next;

      public boolean hasNext() {
        while (!batches.hasNext() && next < parts.size()) {
          batches = batches(parts.get(next), context);
          next++;
        }
        return batches.hasNext();
      }

      public Object next() {
        hasNext();
        return batches.next();
      }
    };
  }

  /** In order, the batches of files that are known, and the other files: one by one where they are not small. */
  private List parts(FilePartition partition) {
    List parts = new ArrayList();
    List small = new ArrayList();
    PartitionedFile[] files = partition.files();
    for (int i = 0; i < files.length; i++) {
      String key = key(files[i]);
      Object[] known = key == null ? null : FilesInMemory.batches(key);
      if (known == null && files[i].length() < SMALL) {
        small.add(files[i]);
      } else {
        together(parts, partition, small);
        parts.add(known == null ? (Object) part(partition, new PartitionedFile[] {files[i]}) : known);
      }
    }
    together(parts, partition, small);
    return parts;
  }

  private static void together(List parts, FilePartition partition, List files) {
    if (!files.isEmpty()) {
      parts.add(part(partition, (PartitionedFile[]) files.toArray(new PartitionedFile[files.size()])));
      files.clear();
    }
  }

  private static FilePartition part(FilePartition of, PartitionedFile[] files) {
    return new FilePartition(of.index(), files);
  }

  /** Null where only a part of the file is read. */
  private String key(PartitionedFile file) {
    boolean whole = file.start() == 0 && file.length() == file.fileSize();
    return whole ? FilesInMemory.key(file.toPath().toString(), packing.layout()) : null;
  }

  private Iterator batches(Object part, TaskContext context) {
    if (part instanceof Object[]) {
      return CollectionConverters.asScala(Arrays.asList((Object[]) part).iterator());
    }
    PartitionedFile[] files = ((FilePartition) part).files();
    Iterator packed = (Iterator) packing.apply(files().compute((FilePartition) part, context));
    String key = files.length == 1 ? key(files[0]) : null;
    return key == null ? packed : FilesInMemory.kept(key, packed);
  }
}
