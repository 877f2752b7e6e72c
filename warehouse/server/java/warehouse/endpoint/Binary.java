package warehouse.endpoint;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.apache.hive.service.ServiceException;
import org.apache.hive.service.auth.HiveAuthFactory;
import org.apache.hive.service.cli.CLIService;
import org.apache.hive.service.cli.thrift.ThriftBinaryCLIService;
import org.apache.hive.service.rpc.thrift.TGetInfoReq;
import org.apache.hive.service.rpc.thrift.TGetInfoResp;
import org.apache.hive.service.server.ThreadFactoryWithGarbageCleanup;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TServerTransport;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransportException;

/** Thrift over plain sockets or TLS; who connects and then says nothing does not keep a thread for ever. */
public class Binary extends ThriftBinaryCLIService {
  private static final long LONGEST = 100L << 20; // bytes of a message, as Hive has it

  private final House house;
  private final SSLContext tls;
  private Vigil vigil;

  Binary(House house, CLIService service, SSLContext tls) {
    super(service);
    this.house = house;
    this.tls = tls;
  }

  public TGetInfoResp GetInfo(TGetInfoReq asked) throws TException {
    TGetInfoResp told = Facts.told(house, cliService, asked);
    return told != null ? told : super.GetInfo(asked);
  }

  protected void initializeServer() {
    try {
      hiveAuthFactory = new HiveAuthFactory(hiveConf);
      ServerSocket socket = Tls.listen(tls, new InetSocketAddress(serverIPAddress, portNum));
      portNum = socket.getLocalPort();
      TServerSocket.ServerSocketTransportArgs sockets = new TServerSocket.ServerSocketTransportArgs();
      sockets.serverSocket(socket);
      TThreadPoolServer.Args args = new TThreadPoolServer.Args((TServerTransport) new Wires(sockets));
      args.processorFactory(hiveAuthFactory.getAuthProcFactory(this));
      args.transportFactory(new Patience(house, hiveAuthFactory.getAuthTransFactory()));
      args.protocolFactory(new TBinaryProtocol.Factory());
      args.inputProtocolFactory(new TBinaryProtocol.Factory(true, true, LONGEST, LONGEST));
      args.executorService(new ThreadPoolExecutor(minWorkerThreads, maxWorkerThreads, workerKeepAliveTime,
          TimeUnit.SECONDS, new SynchronousQueue(), new ThreadFactoryWithGarbageCleanup("HiveServer2-Handler-Pool")));
      server = (TServer) new TThreadPoolServer(args);
      vigil = new Vigil(serverEventHandler);
      server.setServerEventHandler(vigil);
      vigil.start();
    } catch (Exception error) {
      throw new ServiceException("the binary transport does not start: " + error, error);
    }
  }

  protected void stopServer() {
    vigil.interrupt();
    super.stopServer();
  }

  /** Where clients come in, each over a wire. */
  static class Wires extends TServerSocket {
    Wires(TServerSocket.ServerSocketTransportArgs args) throws TTransportException {
      super(args);
    }

    public TSocket accept() throws TTransportException {
      return new Wire(super.accept().getSocket());
    }
  }
}
