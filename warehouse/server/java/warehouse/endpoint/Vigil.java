package warehouse.endpoint;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.server.ServerContext;
import org.apache.thrift.server.TServerEventHandler;
import org.apache.thrift.transport.TSaslServerTransport;
import org.apache.thrift.transport.TTransport;

/**
 * Ends the session of a client that is gone while its statement runs: the thread that serves it is busy with the
 * statement, and would look at the connection only then.
 */
class Vigil extends Thread implements TServerEventHandler {
  private static final long INTERVAL = 1000; // milliseconds between two looks

  private final TServerEventHandler inner;
  private final Map wires = new ConcurrentHashMap(); // by what Hive knows of a connection

  Vigil(TServerEventHandler inner) {
    super("warehouse-vigil");
    this.inner = inner;
    setDaemon(true);
  }

  public void run() {
    try {
      while (true) {
        Thread.sleep(INTERVAL);
        for (Iterator each = wires.entrySet().iterator(); each.hasNext();) {
          Map.Entry entry = (Map.Entry) each.next();
          if (((Wire) entry.getValue()).ended()) {
            each.remove();
            end((ServerContext) entry.getKey());
          }
        }
      }
    } catch (InterruptedException over) {
      // the server ends
    }
  }

  /** Do what Hive does when it finds a connection ended, in a thread of its own: others may have ended meanwhile. */
  void end(final ServerContext context) {
    new Thread("warehouse-gone") {
      public void run() {
        inner().deleteContext(context, null, null);
      }
    }.start();
  }

  TServerEventHandler inner() {
    return inner;
  }

  public void preServe() {
    inner.preServe();
  }

  public ServerContext createContext(TProtocol input, TProtocol output) {
    ServerContext context = inner.createContext(input, output);
    TTransport transport = input.getTransport();
    while (transport instanceof TSaslServerTransport) {
      transport = ((TSaslServerTransport) transport).getUnderlyingTransport();
    }
    wires.put(context, transport);
    return context;
  }

  public void deleteContext(ServerContext context, TProtocol input, TProtocol output) {
    wires.remove(context);
    inner.deleteContext(context, input, output);
  }

  public void processContext(ServerContext context, TTransport input, TTransport output) {
    inner.processContext(context, input, output);
  }
}
