/** Access, changes and the promises between two regions, and their figures. */
import { setTimeout as wait } from 'node:timers/promises';
import { importValues } from '../../packages/operator/src/ingest/import.ts';
import { apiKeyOf, digestOfKey } from '../../packages/service/src/auth.ts';
import type { Store } from '../../packages/store/src/port.ts';
import { byTest, createdAt } from '../../packages/testkit/fixtures/fixture.ts';
import { onConnection } from '../../packages/testkit/servers/postgres-start.ts';
import { keepKey } from '../../packages/testkit/watch/logs.ts';
import { quantile } from '../bench/lib/report.ts';
import { print } from '../lib/program.ts';
import { admittedPerSecond, balancesOf, brands, msUntil, statusOf, usualMs } from './clients.ts';
import { openWorld, type Stage } from './stage.ts';

const revocations = 20;

export const ms = (value: number) => `${value.toFixed(0)} ms`;
const spread = (all: readonly number[]) => `${ms(quantile(all, 0.5))}, at most ${ms(quantile(all, 1))}`;
export const seconds = (value: number) => `${(value / 1_000).toFixed(1)} s`;

let isAnyBroken = false;

export const areKept = () => !isAnyBroken;

/** Prints a figure. A promise that is broken ends the drill with status 1. */
export function figure(name: string, value: string, isKept = true): void {
  isAnyBroken ||= !isKept;
  print(`${name.padEnd(72)} ${value}${isKept ? '' : '  BROKEN'}`);
}

/** A key and a grant of acme with this name, and requests that each of them admits. */
export async function giveAccess(store: Store, name: string) {
  const key = apiKeyOf('sandbox', name.padEnd(43, 'x'));
  keepKey(key);
  const onFile = { id: `KEY_${name}`, partner_id: 'acme', last_four: key.slice(-4), created_at: createdAt };
  await store.createKey({ ...onFile, scopes: ['BRANDS_READ'] }, digestOfKey(key), byTest);
  const grant = { id: `GRANT_${name}`, customer_id: 'alice', partner_id: 'acme', created_at: createdAt };
  await importValues(store, 'grants', [grant]);
  const now = () => new Date().toISOString();
  return {
    askByKey: (port: number) => statusOf(port, brands, key),
    askByGrant: (port: number) => statusOf(port, balancesOf('alice', grant.id)),
    revokeKey: (by: Store) => by.revokeKey(onFile.id, now(), byTest),
    revokeGrant: (by: Store) => by.revokeGrant('alice', grant.id, now(), byTest),
  };
}

/** How long a revoked key and a revoked grant still work in each region. */
export async function measureRevocations({ first, ports }: Stage): Promise<void> {
  const store = await openWorld(first.url());
  const took = new Map<string, number[]>();
  for (let turn = 0; turn < revocations; turn += 1) {
    const access = await giveAccess(store, `revoked${turn}`);
    const kinds = [
      { what: 'key', revoke: access.revokeKey, ask: access.askByKey, refused: 401 },
      { what: 'grant', revoke: access.revokeGrant, ask: access.askByGrant, refused: 403 },
    ];
    for (const { what, revoke, ask, refused } of kinds) {
      await Promise.all(ports.map((port) => msUntil(200, 0, () => ask(port))));
      await revoke(store);
      const sinceMs = performance.now();
      const each = await Promise.all(ports.map((port) => msUntil(refused, sinceMs, () => ask(port))));
      for (const [region, value] of each.entries()) {
        const name = `a revoked ${what}, region ${region + 1}`;
        took.set(name, [...(took.get(name) ?? []), value]);
      }
    }
  }
  await store.close();
  for (const [name, each] of took) {
    figure(`${name}: works on for (${revocations} times)`, spread(each), quantile(each, 1) < 1_000);
  }
}

/** Commits a balance about fifty times a second. */
export function startWriter(store: Store, customer_id: string) {
  const commitsMs: number[] = [];
  const took: number[] = [];
  let isOver = false;
  const write = async () => {
    while (!isOver) {
      const startMs = performance.now();
      const balance = { id: `bal-${commitsMs.length}`, customer_id, type: 'CHECKING', currency: 'USD' };
      const writing = importValues(store, 'balances', [{ ...balance, amount: commitsMs.length }]);
      try {
        await writing;
        commitsMs.push(performance.now());
        took.push(performance.now() - startMs);
        await wait(20);
      } catch {
        // During a failover it is sent again.
        await wait(100);
      }
    }
  };
  const all = write();
  return {
    /** When each commit was confirmed. */
    commitsMs,
    usualMs: () => quantile(took, 0.5),
    stop: async () => {
      isOver = true;
      await all;
    },
  };
}

export async function countOf(url: string, customer: string): Promise<number> {
  const text = 'select count(*)::int as count from balances where customer_id = $1';
  const { rows } = await onConnection(url, (client) => client.query(text, [customer]));
  return rows[0].count;
}

/** How long after its commit a change is on the standby: what a lost region costs. */
async function measureCopying({ first, second }: Stage): Promise<number[]> {
  const store = await openWorld(first.url());
  const took = await onConnection(second.url(), async (client) => {
    const text = 'select from grants where id = $1';
    const copies: number[] = [];
    for (let turn = 0; turn < revocations; turn += 1) {
      const id = `GRANT_copied${turn}`;
      await importValues(store, 'grants', [{ id, customer_id: 'alice', partner_id: 'acme' }]);
      const sinceMs = performance.now();
      const ask = async () => (await client.query(text, [id])).rowCount ?? 0;
      copies.push(await msUntil(1, sinceMs, ask));
    }
    return copies;
  });
  await store.close();
  return took;
}

export async function measureNormal(stage: Stage): Promise<void> {
  const { one, two, ports, farFromRedis } = stage;
  for (const [region, port] of ports.entries()) {
    figure(`region ${region + 1}: a page of brands`, ms(await usualMs(port, brands)));
    figure(`region ${region + 1}: a page of balances`, ms(await usualMs(port, balancesOf('alice'))));
  }
  const lag = /^partner_network_replica_lag_seconds\S* (\S+)$/m.exec(await two.metrics())?.[1];
  figure('region 2: the replica is behind by at most', ms(Number(lag) * 1_000));
  figure('a confirmed change is in region 2 after', spread(await measureCopying(stage)));
  figure('rate of 50, each region with its Redis: admitted a second', await admittedPerSecond(ports));
  const three = await farFromRedis();
  await three.start();
  const shared = await admittedPerSecond([one.port, three.port]);
  figure('rate of 50, both with the Redis of region 1: admitted a second', shared);
  await three.terminate();
}
