/** The image when something is wrong: one sentence, the right exit status, and no stack trace. */
import assert from 'node:assert/strict';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import type { Finished } from '../../packages/testkit/fixtures/run.ts';
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
