// Save it as Brands.java, and run `java Brands.java`. It does not retry.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

class Brands {
  public static void main(String[] args) throws Exception {
    var client = HttpClient.newHttpClient();
    var key = System.getenv("PARTNER_NETWORK_API_KEY");
    var query = "brands?limit=100";
    var url = System.getenv("PARTNER_NETWORK_BASE_URL") + "/" + query;
    for (var next = url; next != null; ) {
      var request = HttpRequest.newBuilder(URI.create(next))
          .timeout(Duration.ofSeconds(10))
          .header("Authorization", "Bearer " + key)
          .build();
      var response = client.send(request, BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new RuntimeException(response.statusCode() + ": " + response.body());
      }
      var page = (Map<?, ?>) new Json(response.body()).value();
      for (var item : (List<?>) page.get("brands")) {
        var brand = (Map<?, ?>) item;
        System.out.println(brand.get("reference_id") + " " + brand.get("name"));
      }
      var cursor = page.get("cursor");
      next = cursor == null ? null : url + "&cursor=" + cursor;
    }
  }
}

/** Reads valid JSON, because Java has nothing for that. Use the library of your project instead. */
class Json {
  private static final Pattern TOKENS =
      Pattern.compile("\"((?:[^\"\\\\]++|\\\\.)*+)\"|[\\[\\]{}]|[^\\s\\[\\]{},:\"]+");
  private static final Pattern ESCAPES = Pattern.compile("\\\\(u....|.)");
  private static final Object END = new Object();
  private final Matcher token;

  Json(String text) {
    token = TOKENS.matcher(text);
  }

  /** A string, a list or a map. A number, true, false or null is its text. */
  Object value() {
    if (!token.find()) throw new IllegalArgumentException("This is not JSON.");
    if (token.group(1) != null) return unescaped(token.group(1));
    switch (token.group()) {
      case "[":
        var list = new ArrayList<Object>();
        for (var item = value(); item != END; item = value()) list.add(item);
        return list;
      case "{":
        var map = new HashMap<Object, Object>();
        for (var name = value(); name != END; name = value()) map.put(name, value());
        return map;
      case "]", "}":
        return END;
      default:
        return token.group();
    }
  }

  private static String unescaped(String text) {
    return ESCAPES.matcher(text).replaceAll(escape -> {
      var code = escape.group(1);
      var meant = switch (code.charAt(0)) {
        case 'u' -> String.valueOf((char) Integer.parseInt(code.substring(1), 16));
        case '/' -> "/";
        default -> escape.group().translateEscapes();
      };
      return Matcher.quoteReplacement(meant);
    });
  }
}
