package warehouse.endpoint;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import jdk.net.ExtendedSocketOptions;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransportException;

/** A client's connection, of which it can be told that it has ended also while nobody reads from it. */
class Wire extends TSocket {
  private static final int AHEAD = 1 << 16; // bytes of requests that a client may send while one is answered
  private static final int SILENCE = 30; // seconds after which a client that says nothing is asked whether it is there

  private final Ear ear;

  Wire(Socket socket) throws TTransportException {
    super(socket);
    this.ear = new Ear(inputStream_);
    this.inputStream_ = ear;
    try {
      socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, Integer.valueOf(SILENCE));
      socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, Integer.valueOf(SILENCE / 3));
      socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, Integer.valueOf(3));
    } catch (Exception unknown) {
      // where the system does not know these, its own two hours count
    }
  }

  /** Whether the client is gone; false while the connection is read, since who reads notices. */
  boolean ended() {
    if (!ear.reading.tryLock()) {
      return false;
    }
    try {
      return ear.endsWithin(AHEAD);
    } catch (IOException broken) {
      return true;
    } finally {
      ear.reading.unlock();
    }
  }

  /** Input that one thread reads at a time, and that can be looked at without taking anything from it. */
  class Ear extends FilterInputStream {
    final ReentrantLock reading = new ReentrantLock();

    Ear(InputStream in) {
      super(in);
    }

    public int read(byte[] into, int offset, int length) throws IOException {
      reading.lock();
      try {
        return in.read(into, offset, length);
      } finally {
        reading.unlock();
      }
    }

    boolean endsWithin(int most) throws IOException {
      Socket socket = getSocket();
      socket.setSoTimeout(1);
      in.mark(most);
      try {
        byte[] some = new byte[1024];
        int left = most;
        while (left > 0) {
          int got = in.read(some, 0, Math.min(left, some.length));
          if (got < 0) {
            return true;
          }
          left -= got;
        }
        return false;
      } catch (SocketTimeoutException silent) {
        return false;
      } finally {
        in.reset();
        socket.setSoTimeout(0);
      }
    }
  }
}
