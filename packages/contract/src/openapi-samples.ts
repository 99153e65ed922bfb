/** Programs that call an operation by the client, which no tool could make up from the document. */
import type { Operation } from './operations.ts';

const client = '@partner-network/client';

const calls: Readonly<Record<Operation['name'], string>> = {
  brands: `for await (const brand of network.brands.list()) {
  console.log(brand.reference_id, brand.name);
}`,
  balances: `const listed = network.balances.list({
  customer_id: 'CUSTOMER_1001',
  type: 'CHECKING',
});
for await (const { amount, currency } of listed) {
  console.log(amount, currency);
}`,
};

interface Sample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

export function samplesOf({ name }: Operation): Sample[] {
  const source = `import { PartnerNetwork } from '${client}';

const network = new PartnerNetwork({
  apiKey: process.env.PARTNER_NETWORK_API_KEY ?? '',
  baseUrl: process.env.PARTNER_NETWORK_BASE_URL ?? '',
});
${calls[name]}`;
  return [{ lang: 'TypeScript', label: client, source }];
}
