package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
)

type Page struct {
	Balances []struct {
		Amount   int64  `json:"amount"`
		Currency string `json:"currency"`
	} `json:"balances"`
	Errors []struct {
		Detail string `json:"detail"`
	} `json:"errors"`
}

func main() {
	query := url.Values{"customer_id": {"CUSTOMER_1001"}, "type": {"CHECKING"}}
	address := os.Getenv("PARTNER_NETWORK_BASE_URL") + "/balances?" + query.Encode()
	request, err := http.NewRequest("GET", address, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARTNER_NETWORK_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var page Page
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status, page.Errors)
	}
	for _, balance := range page.Balances {
		fmt.Println(balance.Amount, balance.Currency)
	}
}
