package warehouse.adaptive;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;

/** Gives each session of Spark's our rules for plans, as they are made and when they are about to run. */
public final class Injection {
  /** To be called before the session whose extensions these are has done anything. */
  public void into(SparkSessionExtensions extensions) {
    extensions.injectPlannerStrategy(new Hashed());
    extensions.injectQueryStagePrepRule(new Shuffled());
    extensions.injectQueryStagePrepRule(new InPlace());
    extensions.injectQueryStagePrepRule(new Ordered());
    extensions.injectColumnar(new Whole());
    extensions.injectColumnar(new Fused());
  }

  /** To be called when tasks have the classes that are for them. */
  public void shipped() {
    ByNumber.shipped = true;
  }

  private static final class Hashed extends AbstractFunction1 {
    public Object apply(Object session) {
      return new LargerSideHashed((SparkSession) session);
    }
  }

  private static final class Shuffled extends AbstractFunction1 {
    public Object apply(Object session) {
      return new OneShuffle();
    }
  }

  private static final class InPlace extends AbstractFunction1 {
    public Object apply(Object session) {
      return new JoinInPlace();
    }
  }

  private static final class Ordered extends AbstractFunction1 {
    public Object apply(Object session) {
      return new SmallSideFirst();
    }
  }

  private static final class Whole extends AbstractFunction1 {
    public Object apply(Object session) {
      return new OneAggregation();
    }
  }

  private static final class Fused extends AbstractFunction1 {
    public Object apply(Object session) {
      return new OneStage();
    }
  }
}
