/** A real `serve` in a process of its own, on a database with some partners, and their keys. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestOfKey, newApiKey } from '../packages/server/src/api-key.ts';
import { importValues } from '../packages/server/src/ingest/import.ts';
import { openStore, parseDatabaseUrl } from '../packages/server/src/store/open.ts';
import { startPostgres, withoutOwnServers } from '../packages/server/test/support/postgres-start.ts';
import { executable } from '../packages/server/test/support/run.ts';
import { wholeRun } from './program.ts';

export const engines = ['sqlite', 'postgres'] as const;
export type Engine = (typeof engines)[number];

export const brandsPath = '/network/v1/brands';
const partners = 8;
const brandsOfPartner = 120;
const createdAt = '2026-01-01T00:00:00.000Z';

export interface LoadedService {
  readonly pid: number;
  readonly port: number;
  /** One of each partner. */
  readonly keys: readonly string[];
  metric(name: string): Promise<number>;
}

export function lackFor(engine: Engine): string | false {
  return engine === 'postgres' && withoutOwnServers();
}

export async function startLoadedService(
  engine: Engine,
  flags: readonly string[] = [],
): Promise<LoadedService> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-bench-'));
  wholeRun.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = engine === 'postgres' ? await startPostgres(wholeRun) : undefined;
  const database = server === undefined ? `sqlite:${join(folder, 'bench.db')}` : server.url();
  const keys = await fill(database);
  const words = ['serve', '--database', database, '--port', '0', '--ops-port', '0', ...flags];
  const child = spawn(process.execPath, [executable, ...words], {
    env: {},
    // Its log goes where writing costs what it costs, and nothing is kept.
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  wholeRun.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null) await once(child, 'exit');
  });
  let said = '';
  for await (const text of child.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text;
    if (said.includes('\n')) break;
  }
  child.stderr.resume();
  const [, address, operations] = /listening on (\S+), operations on (\S+)\.\n/.exec(said) ?? [];
  if (address === undefined) throw new Error(`The service does not start: ${said}`);
  return {
    pid: child.pid!,
    port: Number(new URL(address).port),
    keys,
    metric: async (name) => {
      const text = await (await fetch(`${operations}/metrics`)).text();
      const values = text.split('\n').filter((line) => line.startsWith(name));
      return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
  };
}

async function fill(database: string): Promise<string[]> {
  const address = parseDatabaseUrl(database)!;
  const store = await openStore(address, 'production', address.engine === 'sqlite' ? 'create' : 'migrate');
  const keys: string[] = [];
  for (let number = 1; number <= partners; number += 1) {
    const id = `PARTNER_${number}`;
    await store.createPartner({ id, name: id, created_at: createdAt });
    const text = newApiKey('production');
    const key = { id: `KEY_${id}`, partner_id: id, scopes: ['BRANDS_READ' as const], created_at: createdAt };
    await store.createKey({ ...key, last_four: text.slice(-4) }, digestOfKey(text));
    await importValues(store, 'brands', Array.from({ length: brandsOfPartner }, brand), id);
    keys.push(text);
  }
  await store.close();
  return keys;
}

const brand = (_: unknown, index: number) => ({
  id: `BRAND_${String(index).padStart(12, '0')}`,
  name: `Brand number ${index}`,
  reference_id: `reference-${index}`,
  color: '#336699',
  profile_image_url: `https://images.example.com/brands/${index}.png`,
  metadata: { tier: 'gold', region: 'north', campaign: `campaign-${index % 7}` },
});

/** Gives each process a core of its own, so that they do not get in each other's way. Whether it could. */
export function pin(...pids: readonly number[]): boolean {
  if (availableParallelism() < pids.length) return false;
  return pids.every((pid, core) => spawnSync('taskset', ['-acp', String(core), String(pid)]).status === 0);
}
