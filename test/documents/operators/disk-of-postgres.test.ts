/** Follows the section of incidents.md about the disk of Postgres, which an import fills under load. */
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mountSmallDisk } from '../../../packages/service/test/faults/scene/small-disk.ts';
import { serveOn, startFilled, startLoad } from '../../../packages/service/test/faults/scene/under-load.ts';
import { temporaryFolder, until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../../packages/testkit/fixtures/run.ts';
import { metricOf } from '../../../packages/testkit/fixtures/served.ts';
import {
  afterAllElse,
  connectTo,
  newCluster,
  withoutOwnServers,
} from '../../../packages/testkit/servers/postgres.ts';
import { programsFolder } from '../../../packages/testkit/servers/postgres-programs.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { pageFor, root } from '../../sources.ts';
import { openTerminal, shellBlocks } from '../clone.ts';
import { openPage } from '../page.ts';

const withoutPsql = programsOnPath(['psql'], [programsFolder() ?? '']).length === 0 && 'needs psql';
const lines = 20_000;

test('a full disk of Postgres fails no request and no revocation, and vacuum gives its space back', {
  skip: withoutOwnServers() || withoutPsql,
  timeout: 120_000,
}, async (t) => {
  const disk = mountSmallDisk(200);
  if (typeof disk === 'string') return t.skip(disk);
  const settings = { wal_keep_size: '0', max_wal_size: '64MB', min_wal_size: '64MB', autovacuum: 'off' };
  const server = await startFilled(t, settings, newCluster(join(disk.folder, 'data')));
  afterAllElse(t, disk.remove);
  const owner = await connectTo(t, server.url());
  // A server that has worked for a while has free files of its write-ahead log.
  for (let megabytes = 0; megabytes < 80; megabytes += 1) {
    await owner.query(`select pg_logical_emit_message(false, '', repeat('x', 1000000))`);
  }
  await owner.query('checkpoint');
  const served = await serveOn(t, server.url());
  const load = await startLoad(t, served);
  const receipts = (what: string) => metricOf(served.operationsUrl, `partner_network_receipts_${what}`);

  const folder = temporaryFolder(t);
  const brand = (index: number) => ({ id: `imported-${index}`, name: 'x', reference_id: 'x'.repeat(300) });
  const file = Array.from({ length: lines }, (_, index) => `${JSON.stringify(brand(index))}\n`);
  writeFileSync(join(folder, 'brands.jsonl'), file.join(''));
  const where = ['--database', server.url(), '--environment', 'sandbox'];
  // The rows fit into the temporary table and can be sorted, but do not fit into the table of brands, too.
  disk.fillUp(24_000_000);
  const imported = await run([
    'import',
    'brands',
    join(folder, 'brands.jsonl'),
    '--partner',
    'zenith',
    ...where,
  ]);
  assertFailed(imported, 1, /could not extend file .*53100\)\. Nothing was written\. /);
  const written = await owner.query(`select from brands where id like 'imported-%'`);
  assert.equal(written.rowCount, 0);
  disk.fillUp();
  const revoked = await run(['partners', 'disable', 'zenith', ...where]);
  assert.equal(revoked.status, 0, revoked.stderr);
  await until(20_000, async () => (await receipts('waiting')) > 0);

  const terminal = await openTerminal(folder);
  t.after(terminal.remove);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const document = pageFor('operators', 'incidents');
  const page = openPage(terminal, document, shellBlocks(document, /^The disk of Postgres/));
  const here = (block: string) =>
    `export DATABASE_URL='${server.url()}' PATH="$PATH:${programsFolder()}"\n${block}`;
  const found = await page.next(
    /database postgres .* temporary files .* write-ahead log .* failures /s,
    here,
  );
  const dead = Number(/^ brands +\| +(\d+) /m.exec(found)?.[1]);
  assert.ok(dead > 1_000, `${dead} dead rows`);
  const sizeOfBrands = async () =>
    Number((await owner.query(`select pg_total_relation_size('brands') as size`)).rows[0].size);
  const before = await sizeOfBrands();
  await page.fails(/No space left on device/, here);
  disk.makeRoom();
  await page.next(/^VACUUM\n$/, here);
  page.end();
  assert.ok((await sizeOfBrands()) < before / 2, `${await sizeOfBrands()} of ${before} bytes`);
  await until(20_000, async () => (await receipts('waiting')) === 0);
  const answers = await load.stop();
  assert.deepEqual(
    answers.filter(({ isRight }) => !isRight),
    [],
  );
  t.diagnostic(`${answers.length} requests, none failed; ${dead} dead rows in ${before} bytes`);
});
