// Save it as brands.mjs, and run `node brands.mjs`. It does not retry.
const { PARTNER_NETWORK_BASE_URL, PARTNER_NETWORK_API_KEY } = process.env;

let cursor;
do {
  const query = new URLSearchParams({ limit: '100', ...(cursor && { cursor }) });
  const response = await fetch(`${PARTNER_NETWORK_BASE_URL}/brands?${query}`, {
    headers: { Authorization: `Bearer ${PARTNER_NETWORK_API_KEY}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const page = await response.json();
  for (const brand of page.brands) console.log(brand.reference_id, brand.name);
  cursor = page.cursor;
} while (cursor);
