import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.Base64;
import java.util.stream.Collectors;

/** Java's HttpClient as `newHttpClient()` gives it. Requests come in as lines of standard input, answers go out as lines. */
class HttpLines {
  private static final HttpClient client = HttpClient.newHttpClient();

  public static void main(String[] args) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null; ) {
      String[] columns = line.split("\t", -1);
      System.out.println(columns[0] + "\t" + answer(columns));
    }
    System.exit(0);
  }

  private static String answer(String[] columns) {
    var request = HttpRequest.newBuilder(URI.create(columns[2])).method(columns[1], body(columns[3]));
    for (int i = 4; i + 1 < columns.length; i += 2) request.header(columns[i], columns[i + 1]);
    try {
      HttpResponse<byte[]> response = client.send(request.build(), BodyHandlers.ofByteArray());
      String headers =
          response.headers().map().entrySet().stream()
              .flatMap(header -> header.getValue().stream().map(value -> header.getKey() + ": " + value))
              .collect(Collectors.joining("\n"));
      return response.statusCode() + "\t" + encoded(headers.getBytes()) + "\t" + encoded(response.body());
    } catch (Exception error) {
      return "error\t" + encoded(error.toString().getBytes());
    }
  }

  private static BodyPublisher body(String body) {
    String[] parts = body.split(":", 2);
    switch (parts[0]) {
      case "text":
        return BodyPublishers.ofByteArray(Base64.getDecoder().decode(parts[1]));
      case "sized":
        return BodyPublishers.ofByteArray(filled(parts[1]));
      case "chunked":
        // A stream has no length, so it goes out in chunks.
        return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(filled(parts[1])));
      default:
        return BodyPublishers.noBody();
    }
  }

  private static byte[] filled(String length) {
    byte[] data = new byte[Integer.parseInt(length)];
    Arrays.fill(data, (byte) 'x');
    return data;
  }

  private static String encoded(byte[] data) {
    return Base64.getEncoder().encodeToString(data);
  }
}
