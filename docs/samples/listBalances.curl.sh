# Save it as balances.sh, and run `sh balances.sh`. It does not retry.
cursor=
while :; do
  page=$(curl -sS --max-time 10 -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY" \
    "$PARTNER_NETWORK_BASE_URL/balances?customer_id=CUSTOMER_1001&type=CHECKING&limit=100$cursor") || exit
  echo "$page"
  case $page in '{"errors":'*) exit 1 ;; esac
  # The cursor comes last. The last page has none.
  next=$(echo "$page" | sed -n 's/.*"cursor":"\([^"]*\)"}$/\1/p')
  [ -n "$next" ] || break
  cursor="&cursor=$next"
done
