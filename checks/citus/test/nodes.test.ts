/** What /readyz and doctor say of a cluster: nodes that do not answer, tables and settings. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFinding, findingsOf, instanceOn } from '../../../packages/operator/test/doctor/examined.ts';
import { type OpenOptions, toDistribute, toUpdate } from '../../../packages/store/src/address.ts';
import { openStore } from '../../../packages/store/src/engines.ts';
import { type CitusCluster, startCluster } from '../../../packages/testkit/citus/cluster.ts';
import { until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { type PostgresServer, wholeFile } from '../../../packages/testkit/servers/postgres.ts';
import { onConnection, onEachNode } from '../../../packages/testkit/servers/postgres-start.ts';
import { openServing } from '../../../packages/testkit/service/database.ts';

let cluster: CitusCluster;
let count = 0;

/** A database of the role `owner`, with or without distributed tables. */
async function newDatabase(options: OpenOptions = toDistribute) {
  if (cluster === undefined) {
    cluster = await startCluster(wholeFile);
    await onEachNode(cluster.nodes, 'create role owner login');
  }
  count += 1;
  const superuser = await cluster.createDatabase(`nodes_${count}`);
  const execute = (...statements: string[]) => onEachNode([superuser], ...statements);
  await execute(`alter database nodes_${count} owner to owner`, 'grant create on schema public to owner');
  const url = superuser.replace('//postgres@', '//owner@');
  await (await openStore({ engine: 'postgres', urls: [url] }, 'sandbox', options)).close();
  return { url, execute };
}

const doctor = (url: string, ...flags: string[]) =>
  findingsOf(['--database', url, '--environment', 'sandbox', ...flags]);

const silence = ({ port }: PostgresServer) =>
  `The database node 127.0.0.1:${port} does not answer: requests for its records get 503.`;

/** Whether /readyz names these nodes, within the time that a check takes and is shared. */
async function names(answer: () => Promise<string | number>, ...silent: PostgresServer[]): Promise<void> {
  const expected = ['ready', ...silent.map(silence), ''].join('\n');
  await until(20_000, async () => (await answer()) === expected);
}

/** Also after a failure: the next test needs all workers. */
async function restore(server: PostgresServer): Promise<void> {
  server.thaw();
  if (!server.isRunning()) await server.start();
}

test('an instance on a whole cluster is ready, and doctor finds no fault', async (t) => {
  const { url } = await newDatabase();
  await names((await instanceOn(t, url)).answer);
  assertFinding((await doctor(url)).nodes!, 'ok', /^2 nodes with records answer\.$/);
});

test('while a worker is killed, an instance stays ready, and both name the worker', async (t) => {
  const { url } = await newDatabase();
  const worker = cluster.workers[0]!;
  const { answer, lines } = await instanceOn(t, url);
  await names(answer);
  await worker.kill();
  t.after(() => restore(worker));
  await names(answer, worker);
  const detail = new RegExp(`^${silence(worker)} .*Connection refused`);
  assertFinding((await doctor(url)).nodes!, 'failed', detail, /^Start the node, and check/);
  await worker.start();
  await names(answer);
  const said = lines().map(({ msg, fault }) => [msg, fault]);
  assert.deepEqual(said, [
    ['a part of the database does not work', silence(worker)],
    ['a part of the database works again', silence(worker)],
  ]);
});

test('a frozen worker delays /readyz once, by half a second, and keeps one connection', async (t) => {
  const { url } = await newDatabase();
  const worker = cluster.workers[1]!;
  const { answer } = await instanceOn(t, url);
  await names(answer);
  worker.freeze();
  t.after(() => restore(worker));
  const times: number[] = [];
  const endMs = performance.now() + 6_000;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    await answer();
    times.push(performance.now() - startedMs);
  }
  await names(answer, worker);
  times.sort((one, other) => other - one);
  t.diagnostic(`the longest answers took ${times.slice(0, 3).map(Math.round).join(', ')} ms`);
  assert.ok(times[0]! < 1_000 && times[1]! < 400);
  const sessions = `select from pg_stat_activity where application_name = 'partner-network readiness'`;
  assert.equal((await onConnection(url, (client) => client.query(sessions))).rowCount, 2);
  assertFinding((await doctor(url)).nodes!, 'failed', new RegExp(`^${silence(worker)} There was no answer`));
  worker.thaw();
  await names(answer);
});

test('without any worker an instance is not ready, and the log says why', async (t) => {
  const { url } = await newDatabase();
  const { answer, lines } = await instanceOn(t, url);
  await names(answer);
  for (const worker of cluster.workers) {
    t.after(() => restore(worker));
    await worker.kill();
  }
  await until(20_000, async () => (await answer()) === 503);
  assert.match(lines().at(-1)!.err.message, /^No database node answers\. .* failed/);
  for (const worker of cluster.workers) await worker.start();
  await names(answer);
});

test('a statement that a node refuses makes an instance not ready', async (t) => {
  const { url, execute } = await newDatabase();
  const { answer, lines } = await instanceOn(t, url);
  await names(answer);
  await execute('alter table brands rename record to json');
  await until(20_000, async () => (await answer()) === 503);
  assert.match(lines().at(-1)!.err.message, /^The statements of the listings do not run\. .*"record"/);
  assertFinding((await doctor(url)).nodes!, 'failed', /^The statements of the listings do not run\./);
});

test('both name a table that is not distributed, and doctor says if none is', async (t) => {
  const { url, execute } = await newDatabase();
  await execute(`select undistribute_table('erased_customers')`);
  const sentence = 'The table erased_customers is not distributed, or in a wrong way.';
  assert.equal(await (await instanceOn(t, url)).answer(), `ready\n${sentence}\n`);
  const remedy = /^Run "partner-network migrate --distribute"/;
  assertFinding((await doctor(url)).nodes!, 'failed', /in a wrong way: erased_customers\.$/, remedy);
  const { url: local } = await newDatabase(toUpdate);
  assertFinding((await doctor(local)).nodes!, 'warning', /no table is distributed/, remedy);
});

test('doctor prints the statements that give the nodes the settings of the role', async () => {
  const { url, execute } = await newDatabase();
  const reset = (name: string) => `alter role owner in database nodes_${count} reset ${name}`;
  await execute(reset('enable_sort'), reset('citus.max_cached_conns_per_worker'));
  const { nodes } = await doctor(url);
  assertFinding(nodes!, 'warning', /^Not all nodes have the settings of the role owner/);
  const statements = nodes!.remedy!.match(/alter role [^;]*;/g)!;
  assert.equal(statements.length, 2);
  await execute(...statements);
  assert.equal((await doctor(url)).nodes!.status, 'ok');
});

test('serve and doctor refuse --replica with the same sentence', async (t) => {
  const { url } = await newDatabase();
  const replica = cluster.workers[0]!.url();
  const sentence = /^Replicas cannot be read on a database with Citus/;
  await assert.rejects(openServing(t, url, { replicas: [replica] }), { message: sentence });
  const { replicas } = await doctor(url, '--replica', replica);
  assertFinding(replicas!, 'failed', sentence, /leave out --replica, and add nodes\.$/);
});
