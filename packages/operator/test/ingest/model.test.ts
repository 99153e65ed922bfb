/**
 * Late, repeated and shuffled events, through followers that fail before or after they commit, compared with
 * a model of the rules. `npm run check -- model` sends 100,000 events.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseDatabaseUrl, toFollow } from '../../../store/src/address.ts';
import { openStore } from '../../../store/src/engines.ts';
import { type Store, StoreUnavailable } from '../../../store/src/port.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { type Chance, chanceOf } from '../../../testkit/model/chance.ts';
import { type Delivery, deliverAll, type Reads, readDuring } from '../../../testkit/model/deliver.ts';
import {
  createDeliveries,
  createEvents,
  type Kind,
  type ModelEvent,
  partners,
} from '../../../testkit/model/events.ts';
import { differences, steadyPrefix } from '../../../testkit/model/expected.ts';
import { createObserver } from '../../../testkit/model/observer.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import { followRecords } from '../../src/ingest/follow.ts';
import { importRecords } from '../../src/ingest/import.ts';
import type { Reading } from '../../src/ingest/lines.ts';
import { createRetry } from '../../src/ingest/retry.ts';

const events = Number(process.env.MODEL_EVENTS ?? 3_000);
const records = Math.max(200, events / 50);
/** A follower gets at most this number of lines, then another one begins. */
const lines = Math.max(250, events / 50);

/** The partner that may always read all balances. */
const steadyPartner = partners[0];

async function fillModelWorld(store: Store, events: readonly ModelEvent[]): Promise<void> {
  for (const id of partners) await store.createPartner({ id, name: id, created_at: createdAt }, byTest);
  const balances = events.filter(({ kind }) => kind === 'balances');
  for (const customerId of new Set(balances.map(({ line }) => String(line.customer_id)))) {
    await store.createGrant(
      {
        id: `${steadyPrefix}${customerId}`,
        partner_id: steadyPartner,
        customer_id: customerId,
        action: 'CHECKING_BALANCE',
        status: 'ACTIVE',
        created_at: createdAt,
        updated_at: createdAt,
      },
      byTest,
    );
  }
}

async function exportAll(store: Store): Promise<Record<Kind, string[]>> {
  const lines: Record<Kind, string[]> = { brands: [], balances: [], grants: [] };
  for (const kind of ['brands', 'balances', 'grants'] as const) {
    await store.exportRecords({ kind }, async (some) => {
      lines[kind].push(...some.split('\n').filter((line) => line !== ''));
    });
  }
  return lines;
}

class Killed extends Error {}

/** A store whose writes fail before or after they are committed, as if the process was killed there. */
function dying(store: Store, chance: Chance): Store {
  return {
    ...store,
    beginImport: async (kind, begin) => {
      const run = await store.beginImport(kind, begin);
      return {
        ...run,
        write: async (options) => {
          if (chance.fraction() < 0.3) throw new Killed();
          await run.write(options);
          throw new Killed();
        },
      };
    },
  };
}

/** Reads again after a timeout, as a client does after a 503: a busy machine may need more than 2 s. */
async function available<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return available(read);
  }
}

function readsOf(store: Store): Reads {
  const query = (limit: number, after = '') => ({ limit, after });
  const pageOf = ({ records, next }: { records: string; next: string | undefined }) => ({
    records: JSON.parse(`[${records}]`),
    next,
  });
  const balances = (partnerId: string, customerId: string, limit: number, after?: string, grantId?: string) =>
    available(() =>
      store.listBalances({
        ...query(limit, after),
        partnerId,
        customerId,
        grantId,
        type: 'CHECKING',
        at: createdAt,
      }),
    );
  return {
    brands: async (partnerId, limit, after) =>
      pageOf(
        await available(() =>
          store.listBrands({ ...query(limit, after), partnerId, referenceId: undefined }),
        ),
      ),
    balances: async (customerId, limit, after) => {
      const answer = await balances(steadyPartner, customerId, limit, after);
      return 'page' in answer ? pageOf(answer.page) : assert.fail(answer.grant);
    },
    grant: async (partnerId, customerId, id) => (await balances(partnerId, customerId, 1, '', id)).grant,
  };
}

function followOptions() {
  const stop = new AbortController();
  return { stop, retry: createRetry({ stop, report: () => {} }), rejected: () => {} };
}

async function openFollowers(t: TestContext, url: string, chance: Chance): Promise<Delivery['follow']> {
  const stores = await Promise.all(
    [0, 1, 2, 3].map(() => openStore(parseDatabaseUrl(url)!, 'sandbox', toFollow)),
  );
  t.after(() => Promise.all(stores.map((store) => store.close())).then(() => {}));
  return async (follower, kind, lines, isKilled) => {
    async function* readings(): AsyncGenerator<readonly Reading[]> {
      yield lines.map((value, index) => ({ line: index + 1, value }));
    }
    const store = isKilled ? dying(stores[follower]!, chance) : stores[follower]!;
    // Some lines come as a file, which is written in other ways.
    const isFile = chance.fraction() < 0.3;
    try {
      const report = isFile
        ? await importRecords(store, readings, { kind, pace: 'fast', mode: 'keep', skipsRejected: false })
        : await followRecords(store, readings(), { ...followOptions(), kind });
      assert.deepEqual([report.read, report.rejected], [lines.length, []]);
      return true;
    } catch (error) {
      if (error instanceof Killed || (error as Error).cause instanceof Killed) return false;
      throw error;
    }
  };
}

for (const engine of ['sqlite', 'postgres']) {
  test(`late, repeated and shuffled events end in the state of the model, on ${engine}`, async (t) => {
    const seed = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 1_000_000));
    t.diagnostic(`repeat it with MODEL_SEED=${seed}`);
    const chance = chanceOf(seed);
    const all = createEvents(chance, records, events);
    const { store, url } = await openTestDatabase(t, 'model', (empty) => fillModelWorld(empty, all), engine);
    const observer = createObserver(all);
    const follow = await openFollowers(t, url, chance);
    const delivering = deliverAll(createDeliveries(chance, all), { chance, observer, lines, follow });
    const pages = await readDuring(delivering, { chance, observer, reads: readsOf(store) });
    const { kills } = await delivering;
    assert.deepEqual(observer.violations.slice(0, 5), []);
    assert.deepEqual(differences(all, await exportAll(store)).slice(0, 5), []);
    assert.ok(kills > 5 && pages > 20, `${kills} kills, ${pages} pages`);
  });
}
