package warehouse.endpoint;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.Servlet;
import java.util.EnumSet;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hive.service.ServiceException;
import org.apache.hive.service.auth.HiveAuthFactory;
import org.apache.hive.service.cli.CLIService;
import org.apache.hive.service.cli.thrift.ThriftHttpCLIService;
import org.apache.hive.service.cli.thrift.ThriftHttpServlet;
import org.apache.hive.service.rpc.thrift.TCLIService;
import org.apache.hive.service.rpc.thrift.TGetInfoReq;
import org.apache.hive.service.rpc.thrift.TGetInfoResp;
import org.apache.hive.service.server.ThreadFactoryWithGarbageCleanup;
import org.apache.thrift.TException;
import org.apache.thrift.TProcessor;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TProtocolFactory;
import org.sparkproject.jetty.ee10.servlet.ServletContextHandler;
import org.sparkproject.jetty.ee10.servlet.ServletHolder;
import org.sparkproject.jetty.server.Handler;
import org.sparkproject.jetty.server.HttpConfiguration;
import org.sparkproject.jetty.server.HttpConnectionFactory;
import org.sparkproject.jetty.server.Server;
import org.sparkproject.jetty.server.ServerConnector;
import org.sparkproject.jetty.util.ssl.SslContextFactory;
import org.sparkproject.jetty.util.thread.ExecutorThreadPool;

/** Thrift over HTTP. Spark's own listens on every address of the machine; this one where it is told, and takes tokens. */
public class Http extends ThriftHttpCLIService {
  private final House house;
  private final SSLContext tls;

  Http(House house, CLIService service, SSLContext tls) {
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
      httpServer = new Server(new ExecutorThreadPool(new ThreadPoolExecutor(minWorkerThreads, maxWorkerThreads,
          workerKeepAliveTime, TimeUnit.SECONDS, new SynchronousQueue(),
          new ThreadFactoryWithGarbageCleanup("HiveServer2-HttpHandler-Pool"))));
      HttpConfiguration quiet = new HttpConfiguration();
      quiet.setSendServerVersion(false);
      HttpConnectionFactory http = new HttpConnectionFactory(quiet);
      ServerConnector connector;
      if (tls == null) {
        connector = new ServerConnector(httpServer, new org.sparkproject.jetty.server.ConnectionFactory[] {http});
      } else {
        SslContextFactory.Server secure = new SslContextFactory.Server();
        secure.setSslContext(tls);
        connector = new ServerConnector(httpServer,
            org.sparkproject.jetty.server.AbstractConnectionFactory.getFactories(
                secure, new org.sparkproject.jetty.server.ConnectionFactory[] {http}));
      }
      connector.setHost(serverIPAddress.getHostAddress());
      connector.setPort(portNum);
      connector.setIdleTimeout(
          hiveConf.getTimeVar(HiveConf.ConfVars.HIVE_SERVER2_THRIFT_HTTP_MAX_IDLE_TIME, TimeUnit.MILLISECONDS));
      httpServer.addConnector(connector);
      hiveAuthFactory = new HiveAuthFactory(hiveConf);
      Servlet servlet = (Servlet) new ThriftHttpServlet((TProcessor) new TCLIService.Processor(this),
          (TProtocolFactory) new TBinaryProtocol.Factory(),
          hiveConf.getVar(HiveConf.ConfVars.HIVE_SERVER2_AUTHENTICATION), cliService.getServiceUGI(),
          cliService.getHttpUGI(), hiveAuthFactory);
      ServletContextHandler context = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
      context.setContextPath("/");
      context.addServlet(new ServletHolder(servlet), "/cliservice/*");
      context.addFilter((Filter) new Bearer(house), "/*", EnumSet.of(DispatcherType.REQUEST));
      httpServer.setHandler((Handler) context);
      httpServer.start();
      portNum = connector.getLocalPort();
    } catch (Exception error) {
      throw new ServiceException("the HTTP transport does not start: " + error, error);
    }
  }
}
