import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * For whom a request is, as the gateway says it. Copy this file into your service, map it to <code>/*</code>, and call
 * {@link #tenantOf} in servlets and controllers. Java 17, Jakarta Servlet 5 or newer (Spring Boot 3: a bean of this type is enough).
 *
 * <p>The headers are worth what the network is worth: this rejects what does not come from the gateway's addresses.
 */
public final class TenantFilter implements Filter {
  /**
   * What the gateway says of a request.
   *
   * @param id UUID of the account that the request operates on: every query is about its rows
   * @param externalId {@code null} where it has none
   * @param parentId UUID of its parent, or its own where it is one
   * @param callerId UUID of the account whose key was used, for audits
   * @param requestId names the request in the gateway's log
   */
  public record Tenant(
      String id,
      String externalId,
      String parentId,
      String parentExternalId,
      String callerId,
      String keyId,
      List<String> scopes,
      String requestId) {}

  private static final class NotFromGateway extends Exception {
    NotFromGateway(String message) {
      super(message);
    }
  }

  private static final String ATTRIBUTE = Tenant.class.getName();
  private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  private static final Pattern ANY = Pattern.compile(".*");

  private final List<String> gateways;
  private final String prefix;
  private final Set<String> exempt;

  /** For a gateway on the same machine. */
  public TenantFilter() {
    this(List.of("127.0.0.1", "0:0:0:0:0:0:0:1", "::1"), "X-Service-", Set.of());
  }

  /**
   * @param gateways addresses of the gateway, as {@link ServletRequest#getRemoteAddr} writes them
   * @param prefix {@code headers.prefix} of the gateway
   * @param exempt paths within the application, such as {@code /healthz}, that may be requested from anywhere: their servlets
   *     have no tenant. Each is compared with the path as it was sent; one that is spelled in another way is not exempt
   */
  public TenantFilter(List<String> gateways, String prefix, Set<String> exempt) {
    this.gateways = List.copyOf(gateways);
    this.prefix = prefix;
    this.exempt = Set.copyOf(exempt);
  }

  /** For whom a request is. */
  public static Tenant tenantOf(ServletRequest request) {
    if (request.getAttribute(ATTRIBUTE) instanceof Tenant tenant) return tenant;
    throw new IllegalStateException("the TenantFilter is not mapped to this path, or exempts it");
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (isExempt((HttpServletRequest) request)) {
      chain.doFilter(new WithoutReserved((HttpServletRequest) request), response);
      return;
    }
    try {
      request.setAttribute(ATTRIBUTE, read((HttpServletRequest) request));
    } catch (NotFromGateway error) {
      reject((HttpServletResponse) response, error.getMessage());
      return;
    }
    chain.doFilter(request, response);
  }

  private boolean isExempt(HttpServletRequest request) {
    String routed = request.getServletPath() + Objects.requireNonNullElse(request.getPathInfo(), "");
    return exempt.contains(routed) && request.getRequestURI().equals(request.getContextPath() + routed);
  }

  /** Leaves out the headers that a program could take for those that only the gateway may set. */
  private final class WithoutReserved extends HttpServletRequestWrapper {
    WithoutReserved(HttpServletRequest request) {
      super(request);
    }

    private static String plain(String name) {
      return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "-");
    }

    private boolean isReserved(String name) {
      return plain(name).startsWith(plain(prefix)) || plain(name).equals("x-request-id");
    }

    @Override
    public String getHeader(String name) {
      return isReserved(name) ? null : super.getHeader(name);
    }

    @Override
    public Enumeration<String> getHeaders(String name) {
      return isReserved(name) ? Collections.emptyEnumeration() : super.getHeaders(name);
    }

    @Override
    public Enumeration<String> getHeaderNames() {
      List<String> names = Collections.list(super.getHeaderNames());
      return Collections.enumeration(names.stream().filter(name -> !isReserved(name)).toList());
    }
  }

  private Tenant read(HttpServletRequest request) throws NotFromGateway {
    if (!gateways.contains(request.getRemoteAddr()))
      throw new NotFromGateway("This request did not come through the gateway.");
    return new Tenant(
        required(request, prefix + "Resolved-Tenant", UUID),
        optional(request, prefix + "Resolved-External-Id"),
        required(request, prefix + "Parent-Tenant", UUID),
        optional(request, prefix + "Parent-External-Id"),
        required(request, prefix + "Caller-Tenant", UUID),
        required(request, prefix + "Caller-Key", UUID),
        List.of(required(request, prefix + "Caller-Scopes", ANY).split(" ")).stream().filter(s -> !s.isEmpty()).toList(),
        required(request, "X-Request-Id", ANY));
  }

  private static String optional(HttpServletRequest request, String name) throws NotFromGateway {
    List<String> values = Collections.list(request.getHeaders(name));
    if (values.size() > 1) throw new NotFromGateway("There is more than one " + name + ".");
    return values.isEmpty() ? null : values.get(0);
  }

  private static String required(HttpServletRequest request, String name, Pattern form) throws NotFromGateway {
    String value = optional(request, name);
    if (value == null || !form.matcher(value).matches()) throw new NotFromGateway("There is no valid " + name + ".");
    return value;
  }

  private static void reject(HttpServletResponse response, String detail) throws IOException {
    response.setStatus(HttpServletResponse.SC_FORBIDDEN);
    response.setContentType("application/problem+json");
    // Nothing of the request is in a detail, so there is nothing to escape.
    response
        .getOutputStream()
        .write(
            ("{\"type\":\"about:blank\",\"title\":\"Forbidden\",\"status\":403,\"detail\":\"" + detail + "\"}")
                .getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }
}
