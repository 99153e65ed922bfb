import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { parseLine } from '@partner-network/common/command-line/parse';
import { newId } from '@partner-network/common/ids';
import { createLog } from '@partner-network/common/observability/log';
import { toTime } from '@partner-network/common/times';
import { basePath, type ListingName } from '@partner-network/contract/operations';
import { digestOfKey, newApiKey } from '@partner-network/service/auth';
import { openSandboxService } from '@partner-network/service/rehearsals/rehearsals';
import type { ScenarioName, Verdict } from '@partner-network/service/rehearsals/scenarios';
import { listenSettings, resolveSandbox } from '@partner-network/service/settings';
import { toCreate } from '@partner-network/store/address';
import { openStore } from '@partner-network/store/engines';
import type { ImportKind, ImportRow, Store } from '@partner-network/store/port';

/** Four pages of the largest size, so that a client with any page size meets every fault. */
export const rehearsedRecords = 350;
const numbers = Array.from({ length: rehearsedRecords }, (_, index) => String(index + 1).padStart(3, '0'));
const customer_id = 'CUSTOMER_REHEARSAL';

/** Opens a sandbox on a free port with one partner per scenario. Its folder is removed at the end. */
export async function openPrivateSandbox(
  scenarios: readonly { readonly name: ScenarioName }[],
  listing: ListingName,
  opened: AsyncDisposableStack,
) {
  const folder = await mkdtemp(join(tmpdir(), 'partner-network-rehearse-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  // Without the variables of the environment, such as PORT: they are for a service that others use.
  const { values } = parseLine({ options: listenSettings }, ['--port', '0', '--log-level', 'silent']);
  const settings = resolveSandbox(values, join(folder, 'sandbox.db'));
  const store = await openStore(settings.database, settings.environment, toCreate);
  const accounts = await fill(store, scenarios).finally(store.close);
  const { address } = await openSandboxService(settings, createLog(settings.logLevel), opened);
  return accounts.map(({ name, grant_id, apiKey }) => {
    const url = `${address}/rehearsals/${name}`;
    const ofCustomer = { PARTNER_NETWORK_CUSTOMER_ID: customer_id, PARTNER_NETWORK_GRANT_ID: grant_id };
    const variables: Readonly<Record<string, string>> = {
      PARTNER_NETWORK_BASE_URL: url + basePath,
      PARTNER_NETWORK_API_KEY: apiKey,
      ...(listing === 'balances' && ofCustomer),
    };
    const resultFile = join(folder, `${name}.json`);
    return { name, url, variables, resultFile, verdict: () => verdictAt(url, apiKey) };
  });
}

/** Creates a partner for each scenario. It has a rate of its own, so that scenarios can run together. */
async function fill(store: Store, scenarios: readonly { readonly name: ScenarioName }[]) {
  const by = { actor: 'rehearse', action: 'sandbox' } as const;
  const created_at = toTime(Date.now());
  const times = { created_at, updated_at: created_at };
  const accounts = [];
  for (const { name } of scenarios) {
    const partner_id = newId('PARTNER');
    const apiKey = newApiKey('sandbox');
    accounts.push({ name, partner_id, grant_id: newId('GRANT'), apiKey });
    await store.createPartner({ id: partner_id, name, created_at }, by);
    const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
    const key = { id: newId('KEY'), partner_id, name, scopes, last_four: apiKey.slice(-4), created_at };
    await store.createKey(key, digestOfKey(apiKey), by);
    const brands = numbers.map((number) => {
      const own = { id: newId('BRAND'), name: `Shop ${number}`, reference_id: `shop-${number}` };
      return { partner_id, ...own, ...times };
    });
    await write(store, 'brands', brands);
  }
  const ofCustomer = { customer_id, type: 'CHECKING', currency: 'USD', ...times };
  const balances = numbers.map((number) => ({ ...ofCustomer, id: newId('BAL'), amount: Number(number) }));
  await write(store, 'balances', balances);
  const ofGrant = { customer_id, action: 'CHECKING_BALANCE', ...times };
  const grants = accounts.map(({ partner_id, grant_id }) => ({ ...ofGrant, id: grant_id, partner_id }));
  await write(store, 'grants', grants);
  return accounts;
}

async function write(store: Store, kind: ImportKind, rows: readonly ImportRow[]): Promise<void> {
  const run = await store.beginImport(kind);
  await run.stage(rows);
  await run.write({ mode: 'keep' });
  await run.end();
}

/** The verdict of a scenario's run. A busy sandbox may refuse a request, and answer the next. */
async function verdictAt(url: string, apiKey: string): Promise<Verdict> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
    if (response.ok) return (await response.json()) as Verdict;
    if (attempt === commandLineBounds.verdictAttempts) throw new Error(`No verdict: ${response.status}`);
    await wait(commandLineBounds.verdictRetryMs);
  }
}
