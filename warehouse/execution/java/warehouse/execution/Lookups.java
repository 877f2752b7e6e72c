package warehouse.execution;

import java.util.concurrent.ConcurrentHashMap;
import py4j.reflection.ClassLoadingStrategy;
import py4j.reflection.ReflectionUtil;

/**
 * The class path, with the names that it does not have remembered.
 *
 * <p>To find out that there is no such class means to look into some three hundred jars. Py4J asks so for each part of
 * a name that Python spells out, in ten packages, and Janino for what may be a class in each text that it compiles.
 */
public final class Lookups extends ClassLoader implements ClassLoadingStrategy {
  private static final int MOST = 20000;

  static {
    registerAsParallelCapable();
  }

  private final ConcurrentHashMap missing = new ConcurrentHashMap();

  public Lookups() {
    super(getSystemClassLoader());
  }

  /** Lets Py4J look names up here, and the threads that it calls from, with all that they start. */
  public void install() {
    ReflectionUtil.setClassLoadingStrategy(this);
    getClassLoader();
  }

  @Override
  public Class classForName(String name) throws ClassNotFoundException {
    return Class.forName(name, true, getClassLoader());
  }

  /** The loader of this thread: this one in the place of the class path's own, or what a session has put there. */
  @Override
  public ClassLoader getClassLoader() {
    Thread thread = Thread.currentThread();
    if (thread.getContextClassLoader() == getParent()) {
      thread.setContextClassLoader(this);
    }
    return thread.getContextClassLoader();
  }

  @Override
  protected Class loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (missing.containsKey(name)) {
      throw new Missing(name);
    }
    try {
      return getParent().loadClass(name);
    } catch (ClassNotFoundException none) {
      if (missing.size() < MOST) {
        missing.put(name, Boolean.TRUE);
      }
      throw none;
    }
  }

  /** Nobody reads where a name was not found. */
  private static final class Missing extends ClassNotFoundException {
    Missing(String name) {
      super(name);
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }
}
