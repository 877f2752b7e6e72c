package warehouse.endpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** A request with a bearer token, told as one with a name and a password; the name is the token's subject. */
class Basic extends HttpServletRequestWrapper {
  private final String header;

  Basic(HttpServletRequest request, String token) {
    super(request);
    byte[] both = (subject(token) + ":" + token).getBytes(StandardCharsets.UTF_8);
    this.header = "Basic " + Base64.getEncoder().encodeToString(both);
  }

  /** The subject that a token claims, unproved; whether it may, the gate finds out. */
  private static String subject(String token) {
    try {
      String payload = token.split("\\.")[1];
      byte[] json = Base64.getUrlDecoder().decode(payload);
      JsonNode claims = new ObjectMapper().readTree(json);
      return ((JsonNode) claims.get("sub")).textValue().replace(':', '_');
    } catch (Exception error) {
      return "";
    }
  }

  public String getHeader(String name) {
    return "Authorization".equalsIgnoreCase(name) ? header : super.getHeader(name);
  }
}
