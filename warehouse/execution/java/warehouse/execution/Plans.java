package warehouse.execution;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** Analysed plans of texts that are run again and again over other rows of the same relations; see `Relations`. */
public final class Plans {
  private static final int MOST = 100;

  private final Map kept = new LinkedHashMap(16, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry eldest) {
      return size() > MOST;
    }
  };

  /** No relations yet, for texts that are run in a session. */
  public Relations relations(SparkSession session) {
    return new Relations(this, session);
  }

  /** How many plans are kept, for tests. */
  public int size() {
    return kept.size();
  }

  KeptPlan get(String text) {
    return (KeptPlan) kept.get(text);
  }

  boolean knows(String text) {
    return kept.containsKey(text);
  }

  /** Keep the plan of a text, or, null, that it has none to keep. */
  void put(String text, KeptPlan plan) {
    kept.put(text, plan);
  }
}
