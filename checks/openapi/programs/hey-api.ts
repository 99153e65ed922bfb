import { client } from './hey-api/client.gen.ts';
import { type Brand, listBalances, listBrands } from './hey-api/index.ts';

client.setConfig({
  baseUrl: process.env.PARTNER_NETWORK_BASE_URL,
  auth: process.env.PARTNER_NETWORK_API_KEY,
});

const brands: Brand[] = [];
let cursor: string | undefined;
do {
  const { data } = await listBrands({ query: { cursor } });
  brands.push(...(data?.brands ?? []));
  cursor = data?.cursor;
} while (cursor !== undefined);
console.log(brands.length, brands[0]?.name);

const { error, response } = await listBrands({ query: { limit: 1_000 } });
console.log(response?.status, error?.errors[0]?.code);

const { data } = await listBalances({ query: { customer_id: 'CUSTOMER_1001', type: 'CHECKING' } });
for (const { amount, currency } of data?.balances ?? []) console.log(amount, currency);
