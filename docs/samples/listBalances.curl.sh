curl -sS -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY" \
  "$PARTNER_NETWORK_BASE_URL/balances?customer_id=CUSTOMER_1001&type=CHECKING"
