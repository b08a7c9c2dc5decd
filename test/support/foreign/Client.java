import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Java's own HTTP client with its defaults, so that it offers HTTP/2 with every request. Each answer is one line. */
public class Client {
  private static final HttpClient client = HttpClient.newHttpClient();

  /** @param args origin, API key, and what to send: requests as METHOD:PATH:BODY, `ws:PATH`; BODY `*N` is N bytes in chunks */
  public static void main(String[] args) throws Exception {
    for (int i = 2; i < args.length; i += 1) {
      String[] parts = args[i].split(":", 3);
      String answer;
      try {
        answer = parts[0].equals("ws") ? webSocket(args[0] + parts[1], args[1]) : request(args, parts);
      } catch (Exception failure) {
        answer = failure.toString();
      }
      System.out.println(answer);
    }
    System.exit(0);
  }

  private static String request(String[] args, String[] parts) throws Exception {
    HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(args[0] + parts[1]))
        .header("Authorization", "Bearer " + args[1])
        .header("Content-Type", "application/json")
        .method(parts[0], body(parts.length > 2 ? parts[2] : ""));
    HttpResponse<String> response = client.send(builder.build(), BodyHandlers.ofString());
    return response.statusCode() + " " + response.version() + " " + response.body();
  }

  private static BodyPublisher body(String text) {
    if (text.isEmpty()) return BodyPublishers.noBody();
    if (!text.startsWith("*")) return BodyPublishers.ofString(text);
    byte[] bytes = new byte[Integer.parseInt(text.substring(1))];
    return BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(bytes));
  }

  private static String webSocket(String url, String key) throws Exception {
    CompletableFuture<String> heard = new CompletableFuture<>();
    WebSocket socket = client.newWebSocketBuilder()
        .header("Authorization", "Bearer " + key)
        .buildAsync(URI.create(url.replaceFirst("^http", "ws")), new WebSocket.Listener() {
          @Override
          public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            heard.complete(data.toString());
            return null;
          }
        })
        .join();
    socket.sendText("hello", true);
    return "ws " + heard.get();
  }
}
