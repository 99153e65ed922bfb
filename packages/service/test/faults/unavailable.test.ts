/** While the database or the way to it is broken, clients get a 503. Then they get pages again. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { observabilityBounds } from '../../../common/src/bounds/common.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { assertUnavailable } from '../../../testkit/fixtures/http.ts';
import { isLongRun, temporaryFolder, until } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { metricOf } from '../../../testkit/fixtures/served.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { hangUpOnService } from './scene/pair.ts';
import {
  faultTest,
  holdUp,
  loadOn,
  rareFaultTest,
  serveOn,
  startFilled,
  startLoad,
  statementsOf,
} from './scene/under-load.ts';

const silenceMs = 3_000;

/** Each worker says once why its requests fail, for each cause, not in the line of each request. */
function assertFewLines(log: string, workers: number): void {
  const lines = log.trimEnd().split('\n');
  const withStack = lines.filter((line) => line.includes('"stack"'));
  assert.ok(withStack.length <= (observabilityBounds.failuresCauses + 3) * workers, withStack.join('\n'));
  const of = (message: string) => lines.filter((line) => line.includes(`"msg":"${message}`));
  const count = (message: string) => of(message).length;
  const causes = of('request failed').map((line) => JSON.parse(line).err.message);
  assert.ok(causes.length >= 1 && causes.length <= workers * new Set(causes).size, causes.join('\n'));
  // A lost connection and a refused one are two reasons.
  assert.ok(count('not ready') >= 1 && count('not ready') <= 2);
  assert.equal(count('ready again'), 1);
}

faultTest('a database that is killed during requests is a 503 until it is back', async (t) => {
  const workers = 2;
  const server = await startFilled(t);
  const served = await serveOn(t, server.url(), '--workers', String(workers));
  const load = await startLoad(t, served);
  await holdUp(t, server.url(), 'brands');
  await server.kill();
  for (let refused = 0; refused < 100; refused += 1) await load.fails();
  const readiness = async () => (await fetch(`${served.operationsUrl}/readyz`)).status;
  assert.deepEqual([await readiness(), await readiness()], [503, 503]);
  await server.start();
  await load.resumes();
  assert.equal(await readiness(), 200);
  await load.stop();
  assertFewLines(served.texts().stdout, workers);
});

rareFaultTest('a certificate that cannot be read for new connections is a 503 until it can', async (t) => {
  const server = await startFilled(t);
  const certificate = join(temporaryFolder(t), 'authority.pem');
  writeFileSync(certificate, '');
  const load = await loadOn(t, `${server.url()}?sslmode=disable&sslrootcert=${certificate}`);
  renameSync(certificate, `${certificate}.away`);
  await hangUpOnService(t, server);
  await load.fails();
  renameSync(`${certificate}.away`, certificate);
  await load.recovers();
});

rareFaultTest('connections that fall silent as soon as they are open do not use up the pool', async (t) => {
  const server = await startFilled(t);
  const network = await startNetwork(t, server);
  const load = await loadOn(t, network.url, '--connections', '4');
  network.greetOnly();
  // The oldest of five connections is the one of the primary watch, which stays.
  await hangUpOnService(t, server, 4);
  await load.fails();
  await wait(silenceMs);
  network.forget();
  await load.recovers();
});

/** Takes all connections that a server has left. */
async function takeAll(t: TestContext, url: string): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  try {
    while (true) taken.push(await connectTo(t, url));
  } catch (error) {
    assert.equal((error as { code?: string }).code, '53300');
    return taken;
  }
}

faultTest('an instance that cannot open connections answers on, and is not ready within 30 s', async (t) => {
  const server = await startFilled(t);
  const owner = await connectTo(t, server.url());
  await owner.query('create role serve_1 superuser login');
  const may = (login: 'login' | 'nologin') => owner.query(`alter role serve_1 ${login}`);
  const served = await serveOn(t, server.url().replace('postgres@', 'serve_1@'));
  const load = await startLoad(t, served);
  const ready = async () => {
    const answer = await fetch(`${served.operationsUrl}/readyz`);
    return `${answer.status} ${await answer.text()}`;
  };
  await may('nologin');
  // One refused attempt is a line of /readyz and of the log.
  await until(20_000, async () => /^200 .*No new connection/s.test(await ready()));
  await may('login');
  await until(20_000, async () => (await ready()) === '200 ready\n');
  assert.doesNotMatch(served.texts().stdout, /not ready/);
  const answers = await load.stop();
  assert.ok(answers.every(({ isRight }) => isRight));

  await may('nologin');
  await until(isLongRun ? 30_000 : 40_000, async () => {
    // Half a minute of clients would take 10 s of CPU.
    await wait(250);
    return (await ready()).startsWith('503 ');
  });
  assert.equal((await served.brands('', { key: keys.acme })).status, 200);
  assert.equal(await metricOf(served.operationsUrl, 'partner_network_ready'), 0);
  assert.match(served.texts().stdout, /"No new connection to the database can be opened\..*"not ready: /);
  await may('login');
  await until(20_000, async () => (await ready()).startsWith('200 '));
});

rareFaultTest('a server without a free connection is a 503 until a connection is free', async (t) => {
  const server = await startFilled(t, { max_connections: '12', superuser_reserved_connections: '0' });
  const served = await serveOn(t, server.url());
  const load = await startLoad(t, served);

  // The service may reconnect before all are taken.
  const ofService = `from pg_stat_activity where application_name like 'partner-network serve %'`;
  const others: pg.Client[] = [];
  do {
    others.push(...(await takeAll(t, server.url())));
    await others[0]!.query(`select pg_terminate_backend(pid) ${ofService}`);
    others.push(...(await takeAll(t, server.url())));
  } while ((await others[0]!.query(`select ${ofService}`)).rows.length > 0);
  const takenMs = performance.now();
  for (let times = 0; times < 5; times += 1) {
    assertUnavailable(await served.brands('', { key: keys.acme }));
  }
  await load.next(({ sentMs }) => sentMs > takenMs);
  const freedMs = performance.now();
  for (const other of others) await other.end();
  await load.resumes(freedMs);
  const during = (await load.stop()).filter(({ sentMs, endedMs }) => sentMs > takenMs && endedMs < freedMs);
  assert.ok(during.length > 0 && during.every(({ isRight }) => !isRight));
});

faultTest('an import whose database is killed fails with a sentence, and writes nothing', async (t) => {
  const server = await startFilled(t);
  await holdUp(t, server.url(), 'brands', 0);
  const words = ['import', 'brands', '-', '--partner', 'acme', '--environment', 'sandbox'];
  const input = '{"id":"imported","name":"Imported","reference_id":"imported"}\n';
  const importing = run([...words, '--database', server.url()], { input });
  const observer = await connectTo(t, server.url());
  while ((await statementsOf(observer)) === 0) await wait(5);
  await server.kill();
  assertFailed(
    await importing,
    1,
    /^The database cannot be reached \([^\n]+\)\. Nothing was written\. Run the command again, .*\n$/,
  );
  await server.start();
  const client = await connectTo(t, server.url());
  assert.deepEqual((await client.query(`select id from brands where id = 'imported'`)).rows, []);
});
