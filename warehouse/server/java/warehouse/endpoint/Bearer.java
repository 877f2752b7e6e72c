package warehouse.endpoint;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;

/** Hands a bearer token on as the password of the user that it names, which is how Hive's servlet asks. */
public class Bearer implements Filter {
  private final House house;

  Bearer(House house) {
    this.house = house;
  }

  public void init(FilterConfig config) {}

  public void destroy() {}

  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    house.enter();
    HttpServletRequest asked = (HttpServletRequest) request;
    String given = asked.getHeader("Authorization");
    boolean token = given != null && given.regionMatches(true, 0, "Bearer ", 0, 7);
    chain.doFilter(token ? new Basic(asked, given.substring(7).trim()) : asked, response);
  }
}
