import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../../../testkit/fixtures/folder.ts';
import { assertFailed, type Finished, run } from '../../../testkit/fixtures/run.ts';
import { until } from '../../../testkit/fixtures/until.ts';
import {
  afterAllElse,
  connectTo,
  newCluster,
  type PostgresServer,
} from '../../../testkit/servers/postgres.ts';
import { mountSmallDisk, type SmallDisk } from './scene/small-disk.ts';
import { loadOn, rareFaultTest, startFilled } from './scene/under-load.ts';

const diskMegabytes = 160;
const imported = 5_000;

async function startOnSmallDisk(
  t: TestContext,
): Promise<{ server: PostgresServer; disk: SmallDisk } | undefined> {
  const disk = mountSmallDisk(diskMegabytes);
  if (typeof disk === 'string') return void t.skip(disk);
  const settings = { wal_keep_size: '0', max_wal_size: '32MB', min_wal_size: '32MB', autovacuum: 'off' };
  const server = await startFilled(t, settings, newCluster(join(disk.folder, 'data')));
  afterAllElse(t, disk.remove);
  return { server, disk };
}

/** Imports brands of zenith, which the clients do not read. */
function importBrands(t: TestContext, server: PostgresServer): Promise<Finished> {
  const file = join(temporaryFolder(t), 'brands.jsonl');
  const line = (index: number) =>
    JSON.stringify({ id: `imported-${index}`, name: 'Imported', reference_id: 'x'.repeat(200) });
  writeFileSync(file, Array.from({ length: imported }, (_, index) => `${line(index)}\n`).join(''));
  const database = ['--database', server.url(), '--environment', 'sandbox'];
  return run(['import', 'brands', file, '--partner', 'zenith', ...database]);
}

async function importedBrands(t: TestContext, server: PostgresServer): Promise<number> {
  const client = await connectTo(t, server.url());
  const { rows } = await client.query(
    `select count(*)::integer as found from brands where id like 'imported-%'`,
  );
  return rows[0].found;
}

for (const [what, bytesLeft] of [
  ['staged', 0],
  ['written', 2_500_000],
] as const) {
  rareFaultTest(
    `an import that cannot be ${what} on a full disk fails with a sentence, and writes nothing`,
    async (t) => {
      const started = await startOnSmallDisk(t);
      if (started === undefined) return;
      const { server, disk } = started;
      const load = await loadOn(t, server.url());
      disk.fillUp(bytesLeft);
      const failed = await importBrands(t, server);
      // If a part of the block still fits, Postgres reports how much it wrote.
      const cause = '(No space left on device|wrote only \\d+ of \\d+ bytes at block \\d+)';
      // The name of a temporary table's file begins with t.
      const reason = `could not extend file "base/\\d+/(t\\d+_)?\\d+": ${cause}, 53100`;
      const text = `The database cannot answer now \\(${reason}\\)\\. Nothing was written\\. Run `;
      assertFailed(failed, 1, new RegExp(`^${text}.*\n$`));
      disk.makeRoom();
      await load.resumes();
      assert.equal(await importedBrands(t, server), 0);
      const { status, stderr } = await importBrands(t, server);
      assert.equal(status, 0, stderr);
      assert.equal(await importedBrands(t, server), imported);
      await load.stop();
    },
  );
}

rareFaultTest('a database that dies of a full disk is a 503 until it has room and is started', async (t) => {
  const started = await startOnSmallDisk(t);
  if (started === undefined) return;
  const { server, disk } = started;
  const load = await loadOn(t, server.url());
  disk.fillUp();
  // Postgres stops if it cannot write its log.
  const writer = await connectTo(t, server.url());
  await assert.rejects(async () => {
    while (true) await writer.query(`select pg_logical_emit_message(false, '', repeat('x', 1000000))`);
  });
  await load.fails();
  const failed = await importBrands(t, server);
  assertFailed(failed, 1, /^(Cannot open the database|The database cannot answer now)/);
  disk.makeRoom();
  // The server may end only now, if it began to recover before there was room.
  await until(20_000, async () => {
    if (!server.isRunning()) await server.start();
    return (await importedBrands(t, server).catch(() => undefined)) === 0;
  });
  await load.resumes();
  await load.stop();
});
