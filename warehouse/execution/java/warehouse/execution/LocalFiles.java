package warehouse.execution;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The files of this machine as Hadoop sees them, checksums included. Without its native library, which PySpark does not
 * bring, Hadoop starts a {@code chmod} for every file and folder that is made; this one asks the kernel itself.
 */
public final class LocalFiles extends LocalFileSystem {
  public LocalFiles() {
    super(new Raw());
  }

  /** Become the JVM's file system for {@code file:}, unless something has opened one before. */
  public void register() throws IOException {
    Configuration own = new Configuration();
    own.setClassLoader(LocalFiles.class.getClassLoader());
    own.set("fs.file.impl", LocalFiles.class.getName());
    FileSystem.get(URI.create("file:///"), own);
  }

  static final class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      String rights = permission.getUserAction().SYMBOL + permission.getGroupAction().SYMBOL + permission.getOtherAction().SYMBOL;
      try {
        Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(rights));
      } catch (UnsupportedOperationException elsewhere) {
        super.setPermission(path, permission);
      }
    }
  }
}
