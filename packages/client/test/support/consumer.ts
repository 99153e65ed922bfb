/** A partner's program, which uses every part of the interface. It is compiled and never run. */
import {
  ApiError,
  type Balance,
  type Brand,
  type BrandsPage,
  type CallOptions,
  type ErrorCode,
  GrantError,
  PartnerNetwork,
  PartnerNetworkError,
  type PartnerNetworkOptions,
} from '../../src/index.ts';

const options: PartnerNetworkOptions = {
  apiKey: 'pn_test_…',
  baseUrl: 'https://network.example/network/v1',
  timeoutMs: 5_000,
  maxRetries: 2,
  maxRate: 10,
  fetch,
  onRequest: ({ url, attempt }) => console.log(url, attempt),
  onResponse: async ({ status, requestId, durationMs }) => console.log(status, requestId, durationMs),
};
const network = new PartnerNetwork(options);

export async function brandNames(referenceId: string | undefined, signal: AbortSignal): Promise<string[]> {
  const call: CallOptions = { signal, timeoutMs: undefined };
  const names: string[] = [];
  for await (const brand of network.brands.list({ reference_id: referenceId }, call)) names.push(brand.name);
  for await (const page of network.brands.list().pages()) names.push(...page.brands.map(colorOf));
  return names;
}

export async function cents(customerId: string): Promise<number | ErrorCode | (string & {}) | undefined> {
  try {
    const page = await network.balances.list({ customer_id: customerId, type: 'CHECKING', limit: 10 });
    const more: readonly Balance[] = (await page.next())?.balances ?? [];
    return [...page.balances, ...more].reduce((sum, { amount }) => sum + amount, 0);
  } catch (error) {
    if (error instanceof GrantError) return error.field;
    if (error instanceof ApiError) return error.errors[0]?.code;
    if (error instanceof PartnerNetworkError) return error.message;
    throw error;
  }
}

export const firstPage: Promise<BrandsPage> = network.brands.list();
export const firstId: Promise<string | undefined> = network.brands
  .list()
  .then(({ brands }) => brands[0]?.id)
  .catch((error: unknown) => String(error))
  .finally(() => console.log('answered'));

function colorOf({ color }: Brand): string {
  return color ?? 'none';
}

// Mistakes do not compile: the published types are not `any`.

// @ts-expect-error an unknown type of balances
network.balances.list({ customer_id: 'CUSTOMER_1', type: 'SAVINGS' });
// @ts-expect-error no customer
network.balances.list({ type: 'CHECKING' });
// @ts-expect-error an unknown parameter
network.brands.list({ reference: 'shop-17' });
// @ts-expect-error a page is not a list of brands
export const brands = (page: BrandsPage): readonly Brand[] => page;
new PartnerNetwork().balances.list({ customer_id: 'CUSTOMER_1' });
// @ts-expect-error an unknown option
new PartnerNetwork({ key: '' });
