package warehouse.endpoint;

import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.TTransportFactory;

/** Waits twenty seconds, no longer, for a client to say who it is. */
class Patience extends TTransportFactory {
  private static final int LOGIN = 20000;

  private final House house;
  private final TTransportFactory inner;

  Patience(House house, TTransportFactory inner) {
    this.house = house;
    this.inner = inner;
  }

  public TTransport getTransport(TTransport base) throws TTransportException {
    house.enter();
    TSocket socket = (TSocket) base;
    socket.setTimeout(LOGIN);
    TTransport made = inner.getTransport(base);
    socket.setTimeout(0);
    return made;
  }
}
