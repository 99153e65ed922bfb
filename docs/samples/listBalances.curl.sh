cursor=
while :; do
  page=$(curl -sS -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY" \
    "$PARTNER_NETWORK_BASE_URL/balances?customer_id=CUSTOMER_1001&type=CHECKING&limit=100$cursor")
  echo "$page"
  # The cursor comes last. The last page has none, and neither has an error.
  next=$(echo "$page" | sed -n 's/.*"cursor":"\([^"]*\)"}$/\1/p')
  [ -n "$next" ] || break
  cursor="&cursor=$next"
done
