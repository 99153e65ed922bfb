import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

class ListBalances {
  public static void main(String[] args) throws Exception {
    var query = "customer_id=CUSTOMER_1001&type=CHECKING";
    var url = System.getenv("PARTNER_NETWORK_BASE_URL") + "/balances?" + query;
    var key = System.getenv("PARTNER_NETWORK_API_KEY");
    var request = HttpRequest.newBuilder(URI.create(url))
        .header("Authorization", "Bearer " + key)
        .build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new RuntimeException(response.body());
    // Java reads no JSON itself: parse the page with the library of your project.
    System.out.println(response.body());
  }
}
