import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ListingName } from '@partner-network/contract/operations';
import { digestOfKey, newApiKey } from '../../auth/api-key.ts';
import { commandLineBounds } from '../../bounds/command-line.ts';
import { parseLine } from '../../command-line/parse.ts';
import { importValues } from '../../ingest/import.ts';
import { newId } from '../../lib/ids.ts';
import { toTime } from '../../lib/times.ts';
import { createLog } from '../../observability/log.ts';
import type { Verdict } from '../../rehearsals/scenarios.ts';
import { openService } from '../../serve/service.ts';
import { listenSettings, resolveSandbox } from '../../serve/settings.ts';
import { openStore } from '../../store/engines.ts';
import type { ImportKind, Store } from '../../store/port.ts';

/** Four pages of the largest size, so that a client with any page size meets every fault. */
const numbers = Array.from({ length: 350 }, (_, index) => String(index + 1).padStart(3, '0'));
const customer_id = 'CUSTOMER_REHEARSAL';
const by = { actor: 'rehearse', action: 'sandbox' };

type Account = Awaited<ReturnType<typeof createAccount>>;

/** Opens a sandbox on a free port with one partner per name. Its folder is removed at the end. */
export async function openPrivateSandbox(partnerNames: readonly string[], opened: AsyncDisposableStack) {
  const folder = await mkdtemp(join(tmpdir(), 'partner-network-rehearse-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // Without the variables of the environment, such as PORT: they are for a service that others use.
  const { values } = parseLine({ options: listenSettings }, ['--port', '0', '--log-level', 'silent']);
  const settings = resolveSandbox(values, join(folder, 'sandbox.db'));
  const store = await openStore(settings.database, settings.environment, 'create');
  const accounts: Account[] = [];
  try {
    for (const name of partnerNames) accounts.push(await createAccount(store, name));
    await fill(store, accounts);
  } finally {
    await store.close();
  }
  const { address } = await openService(settings, createLog(settings.logLevel), opened);
  return { rehearsals: `${address}/rehearsals`, accounts };
}

/** A partner of its own has its own rate, so that scenarios can run at the same time. */
async function createAccount(store: Store, name: string) {
  const [partner_id, grant_id, apiKey] = [newId('PARTNER'), newId('GRANT'), newApiKey('sandbox')];
  const created_at = toTime(Date.now());
  await store.createPartner({ id: partner_id, name, created_at }, by);
  const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
  const key = { id: newId('KEY'), partner_id, name, scopes, last_four: apiKey.slice(-4), created_at };
  await store.createKey(key, digestOfKey(apiKey), by);
  return { partner_id, grant_id, apiKey };
}

async function fill(store: Store, accounts: readonly Account[]): Promise<void> {
  const brands = accounts.flatMap(({ partner_id }) =>
    numbers.map((number) => ({ partner_id, name: `Shop ${number}`, reference_id: `shop-${number}` })),
  );
  const ofCustomer = { customer_id, type: 'CHECKING', currency: 'USD' };
  const balances = numbers.map((number) => ({ ...ofCustomer, amount: Number(number) }));
  const grants = accounts.map(({ partner_id, grant_id }) => ({ id: grant_id, partner_id, customer_id }));
  for (const [kind, values] of Object.entries({ brands, balances, grants }))
    await importValues(store, kind as ImportKind, values);
}

/** The verdict of a scenario's run. A busy sandbox may refuse a request, and answer the next. */
export async function verdictAt(url: string, apiKey: string): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
    if (response.ok) return (await response.json()) as Verdict;
    if (attempt === commandLineBounds.verdictAttempts) throw new Error(`No verdict: ${response.status}`);
    await wait(commandLineBounds.verdictRetryMs);
  }
}

/** The environment variables of a program that reads a listing as this partner. */
export function variablesOf({ apiKey, grant_id }: Account, baseUrl: string, listing: ListingName) {
  const ofCustomer = { PARTNER_NETWORK_CUSTOMER_ID: customer_id, PARTNER_NETWORK_GRANT_ID: grant_id };
  const variables = { PARTNER_NETWORK_BASE_URL: baseUrl, PARTNER_NETWORK_API_KEY: apiKey };
  return listing === 'balances' ? { ...variables, ...ofCustomer } : variables;
}
