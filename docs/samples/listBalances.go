// Save it as balances.go, and run `go run balances.go`. It does not retry.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"
)

type Page struct {
	Balances []struct {
		Amount   int64  `json:"amount"`
		Currency string `json:"currency"`
	} `json:"balances"`
	Cursor string `json:"cursor"`
}

func main() {
	query := url.Values{"customer_id": {"CUSTOMER_1001"}, "type": {"CHECKING"}, "limit": {"100"}}
	for {
		page, err := list("/balances?" + query.Encode())
		if err != nil {
			log.Fatal(err)
		}
		for _, balance := range page.Balances {
			fmt.Println(balance.Amount, balance.Currency)
		}
		if page.Cursor == "" {
			return
		}
		query.Set("cursor", page.Cursor)
	}
}

func list(path string) (page Page, err error) {
	request, err := http.NewRequest("GET", os.Getenv("PARTNER_NETWORK_BASE_URL")+path, nil)
	if err != nil {
		return page, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARTNER_NETWORK_API_KEY"))
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return page, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(response.Body)
		return page, fmt.Errorf("%s: %s", response.Status, body)
	}
	err = json.NewDecoder(response.Body).Decode(&page)
	return page, err
}
