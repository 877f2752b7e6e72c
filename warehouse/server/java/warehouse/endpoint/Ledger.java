package warehouse.endpoint;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.hive.thriftserver.ui.HiveThriftServer2EventManager;

/**
 * Who is in, what runs, and a line of JSON per statement, session and refusal in the audit log. Spark's server tells
 * of each event; the counts are what limits are held against.
 */
public class Ledger extends HiveThriftServer2EventManager {
  private static final Pattern CONDITION = Pattern.compile("\\[([A-Z][A-Z0-9_.]*)\\]");
  private static final long LARGEST = 20000000L;

  private final File file;
  private final Map users = new HashMap(); // session to user
  private final Map addresses = new HashMap(); // session to address
  private final Map running = new HashMap(); // statement to what is known of it
  private long missing; // lines that could not be written

  public Ledger(SparkContext context, File file) {
    super(context);
    this.file = file;
  }

  public synchronized int sessionsOf(String user) {
    return count(users, user);
  }

  public synchronized int sessions() {
    return users.size();
  }

  public synchronized int statementsOf(String user) {
    int found = 0;
    for (Iterator each = running.values().iterator(); each.hasNext();) {
      found += ((ObjectNode) each.next()).get("user").textValue().equals(user) ? 1 : 0;
    }
    return found;
  }

  public synchronized int statements() {
    return running.size();
  }

  private static int count(Map map, Object value) {
    int found = 0;
    for (Iterator each = map.values().iterator(); each.hasNext();) {
      found += value.equals(each.next()) ? 1 : 0;
    }
    return found;
  }

  public synchronized void onSessionCreated(String address, String session, String user) {
    users.put(session, name(user));
    addresses.put(session, String.valueOf(address));
    write(event("session").put("session", session).put("user", name(user)).put("address", address));
  }

  public synchronized void onSessionClosed(String session) {
    Object user = users.remove(session);
    addresses.remove(session);
    if (user == null) {
      return; // it had ended before
    }
    write(event("session_closed").put("session", session).put("user", (String) user));
  }

  public synchronized void onStatementStart(String id, String session, String text, String group, String user) {
    running.put(id, event("statement").put("session", session).put("user", name(user))
        .put("address", (String) addresses.get(session)).put("verb", Dialect.firstWord(text)).put("sha256", hash(text))
        .put("began", System.currentTimeMillis()));
  }

  public void onStatementParsed(String id, String plan) {}

  public void onStatementFinish(String id) {
    ended(id, "finished", null);
  }

  public void onStatementError(String id, String message, String trace) {
    ended(id, "failed", message);
  }

  public void onStatementCanceled(String id) {
    ended(id, "cancelled", null);
  }

  public void onStatementTimeout(String id) {
    ended(id, "timed out", null);
  }

  public void onOperationClosed(String id) {
    ended(id, "closed", null);
  }

  synchronized void ended(String id, String how, String message) {
    ObjectNode known = (ObjectNode) running.remove(id);
    if (known == null) {
      return; // it had ended before
    }
    long began = known.remove("began").longValue();
    known.put("ended", how).put("milliseconds", System.currentTimeMillis() - began);
    Matcher condition = CONDITION.matcher(String.valueOf(message));
    known.put("condition", condition.find() ? condition.group(1) : null);
    write(known);
  }

  public synchronized void refused(String user, String address, String why) {
    write(event("refused").put("user", name(user)).put("address", address).put("why", why));
  }

  private static ObjectNode event(String name) {
    return new ObjectMapper().createObjectNode().put("at", Instant.now().toString()).put("event", name);
  }

  static String name(String user) {
    return user == null ? "" : user;
  }

  private static String hash(String text) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      StringBuilder out = new StringBuilder();
      for (int i = 0; i < digest.length; i++) {
        out.append(Character.forDigit((digest[i] >> 4) & 15, 16)).append(Character.forDigit(digest[i] & 15, 16));
      }
      return out.toString();
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }

  /**
   * A disk that is full must not take the server down: the engine's log says so, and once there is room again a line
   * says how many are missing.
   */
  private void write(ObjectNode line) {
    try {
      if (file.length() > LARGEST) {
        file.renameTo(new File(file.getPath() + "." + Instant.now().toEpochMilli()));
      }
      FileOutputStream out = new FileOutputStream(file, true);
      try {
        String gap = missing == 0 ? "" : event("missing").put("lines", missing).toString() + "\n";
        out.write((gap + line.toString() + "\n").getBytes(StandardCharsets.UTF_8));
      } finally {
        out.close();
      }
      missing = 0;
    } catch (IOException error) {
      if (missing++ == 0) {
        House.LOG.error("the audit log cannot be written: " + error);
      }
    }
  }
}
