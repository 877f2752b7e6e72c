package warehouse.endpoint;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.security.sasl.AuthenticationException;
import org.apache.hive.service.auth.PasswdAuthenticationProvider;
import org.apache.hive.service.cli.session.SessionManager;

/**
 * Lets those in whom Python knows. Hive makes one per connection, and over HTTP per request: what was right is
 * remembered for a minute, as a keyed hash, since looking at a password is dear on purpose.
 */
public class Gate implements PasswdAuthenticationProvider {
  /** Of the endpoint that this thread serves: Hive makes gates without telling them anything. */
  static final ThreadLocal HOUSE = new ThreadLocal();

  private static final long MINUTE = 60000L;
  private static final byte[] KEY = new byte[32];
  private static final Map KNOWN = new LinkedHashMap();

  static {
    new SecureRandom().nextBytes(KEY);
  }

  public void Authenticate(String user, String password) throws AuthenticationException {
    House house = (House) HOUSE.get();
    String proof = proof(house, user, password);
    synchronized (KNOWN) {
      Long until = (Long) KNOWN.get(proof);
      if (until != null && until.longValue() > System.currentTimeMillis()) {
        return;
      }
    }
    Statement asked = new Statement(null, String.valueOf(user), String.valueOf(password), null);
    boolean known = false;
    try {
      house.gate.accept(asked);
      if (asked.rewritten == null && house.directory != null
          && Ldap.knows(house.directory, house.pattern, asked.id(), asked.text())) {
        asked.rewrite(String.valueOf(MINUTE));
      }
      known = asked.rewritten != null;
    } catch (Throwable error) {
      House.LOG.error("nobody can be let in: " + error);
    }
    if (!known) {
      house.ledger.refused(user, SessionManager.getIpAddress(), "authentication");
      throw new AuthenticationException("wrong user name or password, or a token that does not hold any more");
    }
    synchronized (KNOWN) {
      if (KNOWN.size() > 10000) {
        KNOWN.clear();
      }
      KNOWN.put(proof, Long.valueOf(System.currentTimeMillis() + Math.min(MINUTE, Long.parseLong(asked.rewritten))));
    }
  }

  private static String proof(House house, String user, String password) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
      String both = System.identityHashCode(house) + " " + String.valueOf(user).length() + ":" + user + password;
      return Base64.getEncoder().encodeToString(mac.doFinal(both.getBytes(StandardCharsets.UTF_8)));
    } catch (Exception error) {
      throw new IllegalStateException(error);
    }
  }
}
