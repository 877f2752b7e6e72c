package warehouse.endpoint;

import java.util.Hashtable;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.directory.InitialDirContext;
import javax.naming.ldap.Rdn;

/** Asks a directory whether a name goes with a password, by a simple bind. */
class Ldap {
  /**
   * @param pattern the distinguished name, with %s for the user
   * @return whether the directory lets the user in
   */
  static boolean knows(String url, String pattern, String user, String password) throws NamingException {
    if (user.isEmpty() || password.isEmpty()) {
      return false; // a bind without a password is an anonymous one, which succeeds
    }
    Hashtable asked = new Hashtable();
    asked.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.ldap.LdapCtxFactory");
    asked.put(Context.PROVIDER_URL, url);
    asked.put(Context.SECURITY_AUTHENTICATION, "simple");
    asked.put(Context.SECURITY_PRINCIPAL, pattern.replace("%s", Rdn.escapeValue(user)));
    asked.put(Context.SECURITY_CREDENTIALS, password);
    asked.put("com.sun.jndi.ldap.connect.timeout", "10000");
    asked.put("com.sun.jndi.ldap.read.timeout", "10000");
    try {
      new InitialDirContext(asked).close();
      return true;
    } catch (javax.naming.AuthenticationException refused) {
      return false;
    }
  }
}
