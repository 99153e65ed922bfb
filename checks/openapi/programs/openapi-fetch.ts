import createClient from 'openapi-fetch';
import type { components, paths } from './openapi-typescript.ts';

const client = createClient<paths>({
  baseUrl: process.env.PARTNER_NETWORK_BASE_URL,
  headers: { authorization: `Bearer ${process.env.PARTNER_NETWORK_API_KEY}` },
});

const brands: components['schemas']['Brand'][] = [];
let cursor: string | undefined;
do {
  const { data } = await client.GET('/brands', { params: { query: { cursor } } });
  brands.push(...(data?.brands ?? []));
  cursor = data?.cursor;
} while (cursor !== undefined);
console.log(brands.length, brands[0]?.name);

const { error, response } = await client.GET('/brands', { params: { query: { limit: 1_000 } } });
console.log(response.status, error?.errors[0]?.code);

const query = { customer_id: 'CUSTOMER_1001', type: 'CHECKING' } as const;
const { data } = await client.GET('/balances', { params: { query } });
for (const { amount, currency } of data?.balances ?? []) console.log(amount, currency);
