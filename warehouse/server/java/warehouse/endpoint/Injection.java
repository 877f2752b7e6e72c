package warehouse.endpoint;

import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import scala.runtime.AbstractFunction2;

/** Gives each session the parser that knows our statements. */
public class Injection extends AbstractFunction2 {
  private final House house;
  private final Pattern words;

  Injection(House house, String words) {
    this.house = house;
    this.words = Pattern.compile(words, Pattern.CASE_INSENSITIVE);
  }

  public Object apply(Object session, Object parser) {
    return new Dialect((SparkSession) session, (ParserInterface) parser, house, words);
  }

  /**
   * A session from which all sessions of the endpoint come. It has extensions of its own, so that the engine's
   * sessions, which speak Spark's SQL alone, keep Spark's parser.
   */
  SparkSession root(SparkSession engine) {
    SparkContext context = engine.sparkContext();
    org.apache.spark.sql.classic.SparkSession own = (org.apache.spark.sql.classic.SparkSession) engine;
    SparkSessionExtensions extensions =
        org.apache.spark.sql.classic.SparkSession$.MODULE$.applyAndLoadExtensions(context);
    extensions.injectParser(this);
    return new org.apache.spark.sql.classic.SparkSession(
        context, new scala.Some(own.sharedState()), scala.Option.empty(), extensions,
        new scala.collection.immutable.HashMap(), new scala.collection.immutable.HashMap());
  }
}
