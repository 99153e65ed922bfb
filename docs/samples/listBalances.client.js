// Save it as balances.mjs, and run `node balances.mjs`. The client retries.
// Install the client first, as the page /docs/guides/javascript says.
import { PartnerNetwork } from '@partner-network/client';

const network = new PartnerNetwork();
const listed = network.balances.list({ customer_id: 'CUSTOMER_1001' });
for await (const { amount, currency } of listed) {
  console.log(amount, currency);
}
