package warehouse.endpoint;

import java.io.File;
import java.util.BitSet;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.hive.thriftserver.HiveThriftServer2;
import org.apache.spark.sql.hive.thriftserver.ui.HiveThriftServer2EventManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the endpoints of one engine share, and what Python makes them with: Py4J reaches the methods of an object, not
 * the constructors of these classes.
 */
public class House {
  static final Logger LOG = LoggerFactory.getLogger(House.class);

  Consumer greeter;
  Consumer planner;
  Consumer actor;
  Consumer beginner;
  Consumer teller;
  Consumer stopper;
  Consumer gate;
  Consumer lister;
  Consumer shaper;
  Ledger ledger;
  SparkSession root;
  Map settings;
  Map limits;
  String hidden;
  String directory;
  String pattern;
  Turns turns;
  volatile boolean hasViews; // that are written anew before they are read
  private HiveThriftServer2EventManager before; // who was told of what happens, of which there is one in a JVM
  private final BitSet pools = new BitSet();

  /**
   * @param answers what Python does, by name: greet is told of each session as it begins; plan answers what a text comes
   *     to; act does what acts; begin does what acts before its rows are known; tell says Spark's errors in our words; stop
   *     cancels a statement that acts, or forgets a session; judge judges a name and a password; list lists what there is;
   *     shape gives rows types that Arrow knows
   * @param hidden what the names begin with of views and functions that the engine alone calls
   * @param settings what each session starts with
   * @param limits what there may be at a time: sessions, statements, and of each for one user
   */
  public void open(SparkSession engine, Map answers, String words, String hidden, String audit, Map settings,
      Map limits) {
    this.greeter = answer(answers, "greet");
    this.planner = answer(answers, "plan");
    this.actor = answer(answers, "act");
    this.beginner = answer(answers, "begin");
    this.teller = answer(answers, "tell");
    this.stopper = answer(answers, "stop");
    this.gate = answer(answers, "judge");
    this.lister = answer(answers, "list");
    this.shaper = answer(answers, "shape");
    this.hidden = hidden;
    this.settings = settings;
    this.limits = limits;
    this.ledger = new Ledger(engine.sparkContext(), new File(audit));
    this.before = HiveThriftServer2.eventManager();
    HiveThriftServer2.eventManager_$eq(ledger);
    this.turns = Turns.of(engine.sparkContext());
    this.root = new Injection(this, words).root(engine);
  }

  private static Consumer answer(Map answers, String name) {
    Consumer found = (Consumer) answers.get(name);
    if (found == null) {
      throw new IllegalArgumentException("nobody answers: " + name);
    }
    return found;
  }

  /** From now on queries are planned in Python whatever their words are: they may read a view whose text is ours. */
  public void readsViews() {
    hasViews = true;
  }

  /**
   * @param conf Hive's settings
   * @param chain file with the certificates in PEM, null for no TLS; key the file with their key
   */
  public Endpoint endpoint(Map conf, String chain, String key) throws Exception {
    return new Endpoint(this, conf, chain, key);
  }

  /** Give back what there is one of in a JVM, unless another house has taken it. */
  public void close() {
    if (HiveThriftServer2.eventManager() == ledger) {
      HiveThriftServer2.eventManager_$eq(before);
    }
  }

  /** A directory that knows users, besides those that Python knows. */
  public void directory(String url, String pattern) {
    this.directory = url;
    this.pattern = pattern;
  }

  public SparkSession root() {
    return root;
  }

  public Ledger ledger() {
    return ledger;
  }

  void check(String what, int there, String user) throws HiveSQLException {
    int most = ((Integer) limits.get(what)).intValue();
    if (there >= most) {
      ledger.refused(user, null, what);
      throw told(new Statement(null, "", what + " " + most, null));
    }
  }

  /** What Python says of a statement that failed. */
  Refusal told(Statement statement) {
    try {
      Dialect.ask(teller, statement);
    } catch (Throwable refusal) {
      if (refusal instanceof Refusal) {
        return (Refusal) refusal;
      }
    }
    return new Refusal(String.valueOf(statement.failure()), "XX000");
  }

  /** A scheduler's pool that no other session has; Spark keeps each for ever, so numbers are used again. */
  synchronized int takePool() {
    int number = pools.nextClearBit(0);
    pools.set(number);
    return number;
  }

  synchronized void givePool(int number) {
    pools.clear(number);
  }

  /** Prepare the thread that serves a client: Hive finds the gate by its loader, and a statement may leave another. */
  void enter() {
    Thread.currentThread().setContextClassLoader(House.class.getClassLoader());
    Gate.HOUSE.set(this);
  }
}
