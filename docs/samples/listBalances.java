import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Pattern;

class ListBalances {
  public static void main(String[] args) throws Exception {
    var query = "customer_id=CUSTOMER_1001&type=CHECKING&limit=100";
    var url = System.getenv("PARTNER_NETWORK_BASE_URL") + "/balances?" + query;
    var key = System.getenv("PARTNER_NETWORK_API_KEY");
    var client = HttpClient.newHttpClient();
    // Java reads no JSON itself: parse the page with the library of your project. The cursor is last.
    var end = Pattern.compile("\"cursor\":\"([^\"]+)\"}$");
    for (var next = url; next != null; ) {
      var request = HttpRequest.newBuilder(URI.create(next))
          .header("Authorization", "Bearer " + key)
          .build();
      var response = client.send(request, BodyHandlers.ofString());
      if (response.statusCode() != 200) throw new RuntimeException(response.body());
      System.out.println(response.body());
      var cursor = end.matcher(response.body());
      next = cursor.find() ? url + "&cursor=" + cursor.group(1) : null;
    }
  }
}
