# Save it as balances.py, and run `.venv/bin/python balances.py`. The client retries.
# Install the client first, as the page /docs/guides/python says.
from partner_network import PartnerNetwork

with PartnerNetwork() as network:
    for balance in network.balances.list(customer_id="CUSTOMER_1001"):
        print(balance.amount, balance.currency)
