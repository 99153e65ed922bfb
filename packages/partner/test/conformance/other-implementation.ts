/**
 * A service that follows the specification and none of our decisions. It sends newest brands first, times
 * without milliseconds, null and unknown fields, an empty cursor on the last page, other codes and headers.
 * Its cursors look like requests.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { basePath } from '@partner-network/contract/operations';

const key = 'Bearer other-implementation';
export const supplied = {
  PARTNER_NETWORK_API_KEY: 'other-implementation',
  PARTNER_NETWORK_BRANDS_ONLY_API_KEY: 'other-implementation-brands',
  PARTNER_NETWORK_CUSTOMER_ID: 'customer one',
  PARTNER_NETWORK_GRANT_ID: 'grant/one',
  PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT: 'customer two',
};

const brands = Array.from({ length: 130 }, (_, index) => ({
  reference_id: `reference ${index % 100}`,
  id: `brand ${1_000 - index}`,
  updated_at: '2026-01-01T00:00:00+00:00',
  created_at: '2026-01-02t00:00:00.5z',
  name: '🦊'.repeat(1024),
  color: index % 2 === 0 ? null : '#AbCdEf',
  metadata: {},
  owner: { nested: true },
}));

const balances = Array.from({ length: 7 }, (_, index) => ({
  id: `balance ${index}`,
  customer_id: supplied.PARTNER_NETWORK_CUSTOMER_ID,
  type: 'CHECKING',
  currency: 'USD',
  amount: index * 10 ** 16,
  updated_at: null,
}));

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

function listed({ url = '', method, headers }: IncomingMessage): object {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const parameter = (name: string) => searchParams.get(name);
  const name = pathname.slice(basePath.length + 1);
  if ((name !== 'brands' && name !== 'balances') || method !== 'GET') throw new Refusal(404, 'no');
  const isBrandsOnly = headers.authorization === `${key}-brands`;
  if (headers.authorization !== key && !isBrandsOnly) throw new Refusal(403, 'who');
  if (isBrandsOnly && name === 'balances') throw new Refusal(403, 'scope');

  const limit = Number(parameter('limit') ?? 50);
  const offset = Number(/\d+$/.exec(parameter('cursor') ?? '0'));
  const isValid = name === 'brands' || (parameter('customer_id') && parameter('type') === 'CHECKING');
  if (!Number.isInteger(limit) || limit < 1 || !isValid) throw new Refusal(400, 'bad');
  if (name === 'balances' && parameter('customer_id') !== supplied.PARTNER_NETWORK_CUSTOMER_ID)
    throw new Refusal(404, 'whose');
  const wanted = parameter('reference_id');
  const ofName = name === 'brands' ? brands : balances;
  const all = ofName.filter((one) => !('owner' in one) || wanted === null || one.reference_id === wanted);
  // Pages may be shorter than the limit.
  const end = offset + Math.min(limit, 40);
  const cursor = end < all.length ? `a+b/c=&$& DELETE as:nobody /none ${end}` : '';
  return { more: true, cursor, [name]: all.slice(offset, end) };
}

export function createOtherImplementation() {
  return createServer((request, response) => {
    try {
      response.end(JSON.stringify(listed(request)));
    } catch (error) {
      const { status, message } = error as Refusal;
      const errors = [{ category: 'API_ERROR', code: message, hint: 'not ours' }];
      response.writeHead(status).end(JSON.stringify({ errors }));
    }
  });
}
