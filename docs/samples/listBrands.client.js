// Save it as brands.mjs, and run `node brands.mjs`. The client retries.
// Install the client first, as the page /docs/guides/javascript says.
import { PartnerNetwork } from '@partner-network/client';

const network = new PartnerNetwork();
for await (const brand of network.brands.list()) {
  console.log(brand.reference_id, brand.name);
}
