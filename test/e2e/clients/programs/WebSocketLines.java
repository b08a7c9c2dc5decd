import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Java's WebSocket. Conversations come in as lines of standard input, answers go out as lines. */
class WebSocketLines {
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
    try {
      var builder = client.newWebSocketBuilder();
      for (int i = 3; i + 1 < columns.length; i += 2) builder.header(columns[i], columns[i + 1]);
      var heard = new Heard();
      WebSocket socket = builder.buildAsync(URI.create(columns[1]), heard).join();
      var messages = new ArrayList<String>();
      for (String step : columns[2].split(";")) {
        String[] parts = step.split(":", 3);
        if (parts[0].equals("close")) {
          socket.sendClose(Integer.parseInt(parts[1]), parts[2]).join();
        } else if (!parts[0].equals("closed")) {
          byte[] data = Base64.getDecoder().decode(parts[1]);
          if (parts[0].equals("text")) socket.sendText(new String(data, StandardCharsets.UTF_8), true).join();
          else socket.sendBinary(ByteBuffer.wrap(data), true).join();
          messages.add(heard.next());
        }
      }
      return "open\t" + String.join(";", messages) + "\t" + heard.next();
    } catch (CompletionException error) {
      if (error.getCause() instanceof WebSocketHandshakeException refused)
        return refused.getResponse().statusCode() + "\t\t0\t";
      return "error\t" + encoded(error.getCause().toString().getBytes());
    } catch (Exception error) {
      return "error\t" + encoded(error.toString().getBytes());
    }
  }

  /** Puts parts of a message together, and each message into a queue. */
  private static class Heard implements WebSocket.Listener {
    private final BlockingQueue<String> queue = new LinkedBlockingQueue<>();
    private final StringBuilder text = new StringBuilder();
    private final ByteArrayOutputStream binary = new ByteArrayOutputStream();

    String next() throws Exception {
      String message = queue.poll(25, TimeUnit.SECONDS);
      if (message == null) throw new Exception("nothing came");
      return message;
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        queue.add("text:" + encoded(text.toString().getBytes(StandardCharsets.UTF_8)));
        text.setLength(0);
      }
      socket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
      byte[] part = new byte[data.remaining()];
      data.get(part);
      binary.writeBytes(part);
      if (last) {
        queue.add("binary:" + encoded(binary.toByteArray()));
        binary.reset();
      }
      socket.request(1);
      return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      queue.add(code + "\t" + encoded(reason.getBytes(StandardCharsets.UTF_8)));
      return null;
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
      queue.add("1006\t" + encoded(error.toString().getBytes(StandardCharsets.UTF_8)));
    }
  }

  private static String encoded(byte[] data) {
    return Base64.getEncoder().encodeToString(data);
  }
}
