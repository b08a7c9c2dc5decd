import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** Shipments, each tenant's own, in Tomcat: {@code JDBC_URL=… PORT=3000 mvn -q compile exec:java} */
public final class Service extends HttpServlet {
  /** Runs a statement as a tenant: PostgreSQL shows it that tenant's rows and no others. */
  private static List<String> asTenant(TenantFilter.Tenant tenant, String sql, String... values) throws SQLException {
    try (Connection connection = DriverManager.getConnection(System.getenv("JDBC_URL"))) {
      connection.setAutoCommit(false);
      try (var role = connection.createStatement()) {
        role.execute("set local role shipping_service");
      }
      try (PreparedStatement setting = connection.prepareStatement("select set_config('app.tenant', ?, true)")) {
        setting.setString(1, tenant.id());
        setting.execute();
      }
      List<String> found = new ArrayList<>();
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        for (int i = 0; i < values.length; i++) statement.setString(i + 1, values[i]);
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) found.add(rows.getString(1));
        }
      }
      connection.commit();
      return found;
    }
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
    if (request.getRequestURI().equals("/healthz")) {
      // For a probe: the names of the headers that it sent.
      List<String> names = Collections.list(request.getHeaderNames()).stream().map(Service::text).toList();
      respond(response, 200, "{\"headers\":[" + String.join(",", names) + "]}");
      return;
    }
    TenantFilter.Tenant tenant = TenantFilter.tenantOf(request);
    if (request.getRequestURI().equals("/me")) {
      List<String> scopes = tenant.scopes().stream().map(Service::text).toList();
      respond(
          response,
          200,
          "{\"id\":" + text(tenant.id())
              + ",\"externalId\":" + text(tenant.externalId())
              + ",\"parentId\":" + text(tenant.parentId())
              + ",\"callerId\":" + text(tenant.callerId())
              + ",\"keyId\":" + text(tenant.keyId())
              + ",\"scopes\":[" + String.join(",", scopes) + "]"
              + ",\"requestId\":" + text(tenant.requestId()) + "}");
      return;
    }
    try {
      String select = "select json_build_object('id', id, 'destination', destination) from shipment order by id";
      respond(response, 200, "[" + String.join(",", asTenant(tenant, select)) + "]");
    } catch (SQLException error) {
      throw new IOException(error);
    }
  }

  @Override
  protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
    String body = new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      // PostgreSQL reads the JSON here; a service of yours has a library for that.
      String insert =
          "insert into shipment (destination) values (?::json ->> 'destination')"
              + " returning json_build_object('id', id, 'destination', destination)";
      respond(response, 201, asTenant(TenantFilter.tenantOf(request), insert, body).get(0));
    } catch (SQLException error) {
      throw new IOException(error);
    }
  }

  private static void respond(HttpServletResponse response, int status, String json) throws IOException {
    response.setStatus(status);
    response.setContentType("application/json");
    response.getOutputStream().write(json.getBytes(StandardCharsets.UTF_8));
  }

  private static final Pattern SPECIAL = Pattern.compile("[\"\\\\]");

  private static String text(String value) {
    return value == null ? "null" : '"' + SPECIAL.matcher(value).replaceAll(m -> Matcher.quoteReplacement("\\" + m.group())) + '"';
  }

  public static void main(String[] args) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(System.getProperty("java.io.tmpdir") + "/shipping-" + ProcessHandle.current().pid());
    tomcat.getConnector().setPort(Integer.parseInt(System.getenv("PORT")));
    tomcat.getConnector().setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
    Context context = tomcat.addContext("", null);
    String gateways = Objects.requireNonNullElse(System.getenv("GATEWAYS"), "127.0.0.1,0:0:0:0:0:0:0:1");
    FilterDef filter = new FilterDef();
    filter.setFilterName("tenant");
    filter.setFilter(new TenantFilter(List.of(gateways.split(",")), "X-Service-", Set.of("/healthz")));
    context.addFilterDef(filter);
    FilterMap everything = new FilterMap();
    everything.setFilterName("tenant");
    everything.addURLPattern("/*");
    context.addFilterMap(everything);
    Tomcat.addServlet(context, "service", new Service());
    context.addServletMappingDecoded("/*", "service");
    tomcat.start();
    tomcat.getServer().await();
  }
}
