/** A real `serve` in a process of its own, on a database with some partners, and their keys. */
import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { availableParallelism, devNull } from 'node:os';
import { join } from 'node:path';
import { digestOfKey, newApiKey } from '../../packages/server/src/auth/api-key.ts';
import { importValues } from '../../packages/server/src/ingest/import.ts';
import { parseDatabaseUrl } from '../../packages/server/src/store/address.ts';
import { openStore } from '../../packages/server/src/store/engines.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { start } from '../../packages/testkit/fixtures/run.ts';
import { startPostgres, withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import { wholeRun } from '../lib/program.ts';

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
}

export function lackFor(engine: Engine): string | false {
  return engine === 'postgres' && withoutOwnServers();
}

export async function startLoadedService(
  engine: Engine,
  flags: readonly string[] = [],
): Promise<LoadedService> {
  const folder = temporaryFolder(wholeRun);
  const server = engine === 'postgres' ? await startPostgres(wholeRun) : undefined;
  const database = server === undefined ? `sqlite:${join(folder, 'bench.db')}` : server.url();
  const keys = await fill(database);
  // Its log goes where writing costs what it costs, and nothing is kept.
  const words = ['serve', '--database', database, '--port', '0', '--ops-port', '0', ...flags];
  const service = start(wholeRun, words, { stdout: openSync(devNull, 'w') });
  const [, address = ''] = await service.says('stderr', /listening on (\S+), /);
  return { pid: service.pid, port: Number(new URL(address).port), keys };
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
    await importValues(
      store,
      'brands',
      Array.from({ length: brandsOfPartner }, (_, index) => brandOf(index)),
      id,
    );
    keys.push(text);
  }
  await store.close();
  return keys;
}

export const brandOf = (index: number) => ({
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
