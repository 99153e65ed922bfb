import { type Brand, listBalances, listBrands } from './orval/client.ts';

const options = { headers: { authorization: `Bearer ${process.env.PARTNER_NETWORK_API_KEY}` } };

const brands: Brand[] = [];
let cursor: string | undefined;
do {
  const response = await listBrands({ cursor }, options);
  if (response.status !== 200) throw new Error(response.data.errors[0]?.detail);
  brands.push(...response.data.brands);
  cursor = response.data.cursor;
} while (cursor !== undefined);
console.log(brands.length, brands[0]?.name);

const refused = await listBrands({ limit: 1_000 }, options);
if (refused.status === 400) console.log(refused.status, refused.data.errors[0]?.code);

const { status, data } = await listBalances({ customer_id: 'CUSTOMER_1001', type: 'CHECKING' }, options);
if (status === 200) for (const { amount, currency } of data.balances) console.log(amount, currency);
