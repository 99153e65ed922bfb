/** A server without room. `test/documents/operators/` has the test of an import that finds no room. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { afterAllElse, connectTo, newCluster } from '../../../testkit/servers/postgres.ts';
import { mountSmallDisk } from './scene/small-disk.ts';
import { loadOn, rareFaultTest, startFilled } from './scene/under-load.ts';

const diskMegabytes = 160;

rareFaultTest('a database that dies of a full disk is a 503 until it has room and is started', async (t) => {
  const disk = mountSmallDisk(diskMegabytes);
  if (typeof disk === 'string') return t.skip(disk);
  const settings = { wal_keep_size: '0', max_wal_size: '32MB', min_wal_size: '32MB', autovacuum: 'off' };
  const server = await startFilled(t, settings, newCluster(join(disk.folder, 'data')));
  afterAllElse(t, disk.remove);
  const load = await loadOn(t, server.url());
  disk.fillUp();
  // Postgres stops if it cannot write its log.
  const writer = await connectTo(t, server.url());
  await assert.rejects(async () => {
    while (true) await writer.query(`select pg_logical_emit_message(false, '', repeat('x', 1000000))`);
  });
  await load.fails();
  const words = ['import', 'brands', '-', '--partner', 'zenith', '--environment', 'sandbox'];
  const input = '{"id":"imported","name":"Imported","reference_id":"imported"}\n';
  const failed = await run([...words, '--database', server.url()], { input });
  assertFailed(failed, 1, /^(Cannot open the database|The database cannot answer now)/);
  disk.makeRoom();
  // The server may end only now, if it began to recover before there was room.
  await until(20_000, async () => {
    if (!server.isRunning()) await server.start();
    const client = await connectTo(t, server.url()).catch(() => undefined);
    const found = await client?.query(`select from brands where id = 'imported'`).catch(() => undefined);
    return found?.rowCount === 0;
  });
  await load.resumes();
  await load.stop();
});
