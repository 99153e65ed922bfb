// Save it as brands.go, and run `go run brands.go`. It does not retry.
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
	Brands []struct {
		ReferenceID string `json:"reference_id"`
		Name        string `json:"name"`
	} `json:"brands"`
	Cursor string `json:"cursor"`
}

func main() {
	query := url.Values{"limit": {"100"}}
	for {
		page, err := list("/brands?" + query.Encode())
		if err != nil {
			log.Fatal(err)
		}
		for _, brand := range page.Brands {
			fmt.Println(brand.ReferenceID, brand.Name)
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
