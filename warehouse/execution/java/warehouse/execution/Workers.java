package warehouse.execution;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.master.Master;
import org.apache.spark.deploy.worker.Worker;
import org.apache.spark.rpc.RpcEnv;
import scala.Option;

/**
 * A master and workers of Spark's in this process; each worker starts an executor in a process of its own.
 *
 * <p>What Spark's own local-cluster is, but that each worker has an address of its own where the machine has several on
 * its loopback: no second attempt of a slow task is started on the host of the first.
 */
public final class Workers {
  private static final String MASTER = "127.0.0.1";

  private final List running = new ArrayList();

  /** Starts so many workers and returns the address of their master, for {@code spark.master}. */
  public String start(SparkConf conf, int workers, int cores, int megabytes) throws IOException {
    RpcEnv master = (RpcEnv) Master.startRpcEnvAndEndpoint(MASTER, 0, 0, conf)._1();
    running.add(master);
    String address = "spark://" + MASTER + ":" + master.address().port();
    for (int number = 1; number <= workers; number++) {
      Option own = Option.apply((Object) Integer.valueOf(number));
      String[] masters = {address};
      running.add(Worker.startRpcEnvAndEndpoint(
          host(number), 0, 0, cores, megabytes, masters, null, own, conf, Option.empty()));
    }
    return address;
  }

  /** Ends the workers, then their master. */
  public void stop() {
    for (int at = running.size() - 1; at >= 0; at--) {
      ((RpcEnv) running.get(at)).shutdown();
    }
    running.clear();
  }

  private static String host(int number) {
    String own = "127.0." + (number >> 8) + "." + (number & 255);
    try {
      new ServerSocket(0, 1, InetAddress.getByName(own)).close();
      return own;
    } catch (IOException e) {
      return MASTER; // as on systems that give the loopback one address
    }
  }
}
