// Save it as balances.mjs, and run `node balances.mjs`. It does not retry.
const { PARTNER_NETWORK_BASE_URL, PARTNER_NETWORK_API_KEY } = process.env;

let cursor;
do {
  const query = new URLSearchParams({ customer_id: 'CUSTOMER_1001', type: 'CHECKING', limit: '100' });
  if (cursor) query.set('cursor', cursor);
  const response = await fetch(`${PARTNER_NETWORK_BASE_URL}/balances?${query}`, {
    headers: { Authorization: `Bearer ${PARTNER_NETWORK_API_KEY}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const page = await response.json();
  for (const { amount, currency } of page.balances) console.log(amount, currency);
  cursor = page.cursor;
} while (cursor);
