import json
import os
from urllib.parse import urlencode
from urllib.request import Request, urlopen

base_url = os.environ["PARTNER_NETWORK_BASE_URL"]
headers = {"Authorization": "Bearer " + os.environ["PARTNER_NETWORK_API_KEY"]}

query = urlencode({"customer_id": "CUSTOMER_1001", "type": "CHECKING"})
with urlopen(Request(f"{base_url}/balances?{query}", headers=headers), timeout=10) as response:
    for balance in json.load(response)["balances"]:
        print(balance["amount"], balance["currency"])
