# Save it as brands.sh, and run `sh brands.sh`. It does not retry.
cursor=
while :; do
  page=$(curl -sS --max-time 10 -H "Authorization: Bearer $PARTNER_NETWORK_API_KEY" \
    "$PARTNER_NETWORK_BASE_URL/brands?limit=100$cursor") || exit
  echo "$page"
  case $page in '{"errors":'*) exit 1 ;; esac
  # The cursor comes last. The last page has none.
  next=$(echo "$page" | sed -n 's/.*"cursor":"\([^"]*\)"}$/\1/p')
  [ -n "$next" ] || break
  cursor="&cursor=$next"
done
