# Save it as balances.py, and run `python3 balances.py`. It does not retry.
import json
import os
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

base_url = os.environ["PARTNER_NETWORK_BASE_URL"]
api_key = os.environ["PARTNER_NETWORK_API_KEY"]

query = {"customer_id": "CUSTOMER_1001", "type": "CHECKING", "limit": 100}
while True:
    request = Request(f"{base_url}/balances?{urlencode(query)}")
    # The address of a redirect must not get the key.
    request.add_unredirected_header("Authorization", f"Bearer {api_key}")
    try:
        with urlopen(request, timeout=10) as response:
            page = json.load(response)
    except HTTPError as refusal:
        raise SystemExit(f"{refusal.code}: {refusal.read().decode()}")
    for balance in page["balances"]:
        print(balance["amount"], balance["currency"])
    if "cursor" not in page:
        break
    query["cursor"] = page["cursor"]
