# Save it as brands.py, and run `.venv/bin/python brands.py`. The client retries.
# Install the client first, as the page /docs/guides/python says.
from partner_network import PartnerNetwork

with PartnerNetwork() as network:
    for brand in network.brands.list():
        print(brand.reference_id, brand.name)
