# Save it as brands.py, and run `python3 brands.py`. It does not retry.
import json
import os
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

base_url = os.environ["PARTNER_NETWORK_BASE_URL"]
api_key = os.environ["PARTNER_NETWORK_API_KEY"]

query = {"limit": 100}
while True:
    request = Request(f"{base_url}/brands?{urlencode(query)}")
    # The address of a redirect must not get the key.
    request.add_unredirected_header("Authorization", f"Bearer {api_key}")
    try:
        with urlopen(request, timeout=10) as response:
            page = json.load(response)
    except HTTPError as refusal:
        raise SystemExit(f"{refusal.code}: {refusal.read().decode()}")
    for brand in page["brands"]:
        print(brand["reference_id"], brand["name"])
    if "cursor" not in page:
        break
    query["cursor"] = page["cursor"]
