/** The image when something is wrong: one sentence, the right exit status, and no stack trace. */
import assert from 'node:assert/strict';
import { chownSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Finished } from '../../packages/testkit/fixtures/run.ts';
import { listenOnAnyPort } from '../../packages/testkit/servers/free-port.ts';
import { openBundle, without, withoutImage } from './bundle.ts';
import { type Bundle, openContainers, withoutRunc } from './runc.ts';

const skip = withoutImage || without('umoci') || (await withoutRunc());
const bundle: Bundle = skip ? (undefined as never) : openBundle({ after });

const anyPorts = { HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0' };

/** One sentence on standard error. */
function assertRefused({ status, stdout, stderr }: Finished, said: RegExp): void {
  assert.equal(status, 1, stderr);
  assert.equal(stdout, '');
  assert.match(stderr, said);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
}

async function migrated(t: TestContext) {
  const containers = openContainers(t, bundle);
  const { status, stderr } = await containers.run(['migrate']);
  assert.equal(status, 0, stderr);
  return containers;
}

test('without write access to /data, migrate and serve say so', { skip }, async (t) => {
  const containers = await migrated(t);
  chownSync(containers.data, 0, 0);
  assertRefused(await containers.run(['serve'], anyPorts), /\/data/);
  const empty = openContainers(t, bundle);
  chownSync(empty.data, 0, 0);
  assertRefused(await empty.run(['migrate']), /\/data/);
});

test('without a database, serve names migrate', { skip }, async (t) => {
  assertRefused(await openContainers(t, bundle).run(['serve'], anyPorts), /migrate/);
});

test('a large import needs a folder for temporary files, which the image sets to /data', {
  skip,
}, async (t) => {
  const containers = await migrated(t);
  await containers.run(['partners', 'create', '--id', 'PARTNER_1', '--name', 'Acme']);
  const lines = Array.from(
    { length: 60_000 },
    (_, row) => `{"id":"BRAND_${row}","name":"A","reference_id":"1"}\n`,
  );
  writeFileSync(join(containers.data, 'brands.jsonl'), lines.join(''));
  const words = ['import', 'brands', '/data/brands.jsonl', '--partner', 'PARTNER_1'];
  assertRefused(await containers.run(words, { SQLITE_TMPDIR: '/none' }), /Set SQLITE_TMPDIR/);
  assert.match((await containers.run(words)).stdout, /^60000 read, 60000 written/);
});

test('a port that is taken is named', { skip }, async (t) => {
  const containers = await migrated(t);
  const taken = await listenOnAnyPort(t, createServer());
  const named = new RegExp(`${taken}`);
  assertRefused(await containers.run(['serve'], { ...anyPorts, PORT: `${taken}` }), named);
  assertRefused(await containers.run(['serve'], { ...anyPorts, OPS_PORT: `${taken}` }), named);
});

test('a database of a newer version is refused and not changed', { skip }, async (t) => {
  const containers = await migrated(t);
  using database = new DatabaseSync(join(containers.data, 'production.db'));
  database.exec('pragma user_version = 999');
  for (const command of ['migrate', 'serve']) {
    assertRefused(await containers.run([command], anyPorts), /schema 999.*use the newer version/);
  }
  assert.equal(database.prepare('pragma user_version').get()?.user_version, 999);
});

/**
 * Node prints this with NODE_DEBUG when our program has run its first lines, which listen for signals. The
 * kernel drops an earlier signal to process 1: it takes Node 25 ms until it runs any JavaScript.
 */
const listens = /Translating StandardModule file:\S+require-node-24\.js/;

test('SIGTERM during the start ends it with status 0 or 143', { skip, timeout: 60_000 }, async (t) => {
  const containers = await migrated(t);
  for (const delayMs of [0, 20, 60, 120, 200]) {
    const service = containers.start(['serve'], { ...anyPorts, DRAIN_DELAY: '0', NODE_DEBUG: 'esm' });
    await service.says('stderr', listens);
    await wait(delayMs);
    process.kill(await service.pid(), 'SIGTERM');
    const { status, stderr } = await service.finished;
    assert.ok(status === 0 || status === 143, `after ${delayMs} ms: status ${status}, ${stderr}`);
    assert.doesNotMatch(stderr, /\n\s+at /);
  }
});
