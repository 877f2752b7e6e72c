package warehouse.execution;

import java.lang.reflect.Field;
import java.util.Iterator;
import java.util.concurrent.locks.Lock;
import py4j.CallbackClient;
import py4j.ClientServerConnection;

/** Ends connections by which Java's threads have called Python; Py4J keeps them when the threads have ended. */
public final class Callbacks {
  /** End the connection from a port of this process, on which nobody must be waiting. */
  public void hangUp(CallbackClient client, int port) throws ReflectiveOperationException {
    ClientServerConnection ended = taken(client, port);
    if (ended != null) {
      ended.shutdown();
    }
  }

  /** Take a connection from those that the client keeps; null where it has none from the port. */
  private ClientServerConnection taken(CallbackClient client, int port) throws ReflectiveOperationException {
    Lock lock = (Lock) field(client, "lock");
    lock.lock();
    try {
      for (Iterator i = ((Iterable) field(client, "connections")).iterator(); i.hasNext();) {
        Object each = i.next();
        if (each instanceof ClientServerConnection) {
          ClientServerConnection found = (ClientServerConnection) each;
          if (found.getSocket() != null && found.getSocket().getLocalPort() == port) {
            i.remove();
            return found;
          }
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  private Object field(CallbackClient client, String name) throws ReflectiveOperationException {
    Field field = CallbackClient.class.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(client);
  }
}
