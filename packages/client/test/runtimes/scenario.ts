/**
 * What the client must do in each supported runtime. This file runs in all of them, as JavaScript, so it uses
 * only what all of them have.
 */
import type * as Client from '../../src/index.ts';

export interface Stage {
  /** The address of the service, and an address that accepts requests and never answers. */
  readonly baseUrl: string;
  readonly silentUrl: string;
  readonly apiKey: string;
}

export interface Proof {
  readonly brands: number;
  readonly balances: number;
  readonly refused: string;
  readonly aborted: string;
  readonly late: string;
}

/** The result in every runtime, with the demo data of the sandbox. */
export const expectedProof: Proof = {
  brands: 120,
  balances: 50,
  refused: 'AuthenticationError UNAUTHORIZED',
  aborted: 'enough',
  late: 'TimeoutError',
};

export async function prove(client: typeof Client, { baseUrl, silentUrl, apiKey }: Stage): Promise<Proof> {
  const { PartnerNetwork, AuthenticationError, TimeoutError } = client;
  const network = new PartnerNetwork({ apiKey, baseUrl });
  const stranger = new PartnerNetwork({ apiKey: 'pn_test_unknown', baseUrl });
  const unanswered = new PartnerNetwork({ apiKey, baseUrl: silentUrl, maxRetries: 0 });

  const ids = new Set<string>();
  for await (const brand of network.brands.list()) ids.add(brand.id);
  const page = await network.balances.list({ customer_id: 'CUSTOMER_1005', type: 'CHECKING' });

  const refusal = await failure(stranger.brands.list());
  const refused =
    refusal instanceof AuthenticationError ? `${refusal.name} ${refusal.code}` : String(refusal);

  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('enough')), 50);
  const abortion = await failure(unanswered.brands.list({}, { signal: controller.signal }));
  const aborted = abortion === controller.signal.reason ? 'enough' : String(abortion);

  const lateness = await failure(unanswered.brands.list({}, { timeoutMs: 50 }));
  const late = lateness instanceof TimeoutError ? lateness.name : String(lateness);

  return { brands: ids.size, balances: page.balances.length, refused, aborted, late };
}

async function failure(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  return 'no failure';
}
