package warehouse.adaptive;

import org.apache.spark.sql.internal.SQLConf;

/** What is on unless a session has set it to false. */
final class Switch {
  static boolean isOn(SQLConf conf, String setting) {
    return !"false".equalsIgnoreCase(conf.getConfString(setting, "true"));
  }
}
