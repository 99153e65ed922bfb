/** The effect of the Postgres settings, observed on the wire between the service and its server. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { postgresBounds } from '../../../common/src/bounds/store.ts';
import { planSettings } from '../../../store/src/postgres/connections/connection.ts';
import * as statements from '../../../store/src/postgres/statements.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import type { Caller } from '../../../testkit/fixtures/http.ts';
import { serveSandbox } from '../../../testkit/fixtures/served.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import {
  emptyDatabaseOn,
  type PostgresServer,
  startPostgres,
  wholeFile,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { type ClientMessages, clientMessagesIn } from '../../../testkit/servers/postgres-wire.ts';
import { fillDatabase } from '../../../testkit/service/database.ts';

const limits = { skip: withoutOwnServers() };

let server: Promise<PostgresServer> | undefined;

/** One server for all tests of this file. */
async function proxyToServer(t: TestContext) {
  server ??= startFilled();
  return startNetwork(t, await server);
}

async function startFilled(): Promise<PostgresServer> {
  const started = await startPostgres(wholeFile);
  await emptyDatabaseOn(started, 'network');
  await fillDatabase(started.url('network'));
  return started;
}

interface Served extends Caller {
  /** What was sent on each connection. */
  sent(): ClientMessages[];
  /** The same for connections that answer requests, not those that check the schema or write receipts. */
  sentInPool(): ClientMessages[];
}

function urlOf({ port }: { port: number }): string {
  return `postgres://postgres@127.0.0.1:${port}/network`;
}

async function serve(t: TestContext, variables: Record<string, string>): Promise<Served> {
  const primary = await proxyToServer(t);
  const caller = await serveSandbox(t, urlOf(primary), ['--brands-rate', '0'], { variables });
  const sent = () =>
    primary
      .sent()
      .filter((bytes) => bytes.length > 0)
      .map(clientMessagesIn);
  const isOfPool = ({ settings }: ClientMessages) =>
    'options' in settings && settings.application_name !== 'partner-network receipts';
  return { ...caller, sent, sentInPool: () => sent().filter(isOfPool) };
}

/** Calls each listing in each way, repeatedly. */
async function callEverything({ brands, balances }: Caller, times: number): Promise<void> {
  const key = keys.acme;
  const customer = '?customer_id=alice&type=CHECKING';
  for (let time = 0; time < times; time += 1) {
    assert.equal((await brands('', { key })).status, 200);
    assert.equal((await brands('?reference_id=shared', { key })).status, 200);
    assert.equal((await balances(customer, { key })).status, 200);
    assert.equal((await balances(`${customer}&grant_id=g-active`, { key })).status, 200);
  }
}

const { written, replayed, ...hot } = statements;
const hotNames = Object.values(hot).map(({ name }) => name!);

test('prepares each hot statement once on a connection, with its settings', limits, async (t) => {
  const served = await serve(t, { DATABASE_CONNECTIONS: '1' });
  await callEverything(served, 5);
  const [sent, ...others] = served.sentInPool();
  assert.deepEqual(others, []);
  const named = sent!.prepared.filter((name) => name !== '');
  // The cursor keys are read twice a second, without any request.
  assert.deepEqual(named.toSorted(), [...hotNames, 'cursor_keys'].toSorted());
  // A used API key is read once in half a second.
  for (const name of hotNames.filter((name) => name !== 'key_by_digest')) {
    assert.equal(sent!.bound.filter((bound) => bound === name).length, 5, name);
  }
  assert.equal(sent!.settings.options, planSettings);
  assert.equal(sent!.settings.statement_timeout, String(postgresBounds.statementMs));
});

test('names no statement and sends no setting of a session when they are off', limits, async (t) => {
  const served = await serve(t, { PREPARED_STATEMENTS: 'off' });
  await callEverything(served, 5);
  for (const { settings, prepared } of served.sent()) {
    assert.deepEqual(
      prepared.filter((name) => name !== ''),
      [],
    );
    const usual = ['application_name', 'client_encoding', 'database', 'user'];
    assert.deepEqual(Object.keys(settings).toSorted(), usual);
  }
  assert.ok(served.sent().flatMap(({ bound }) => bound).length > 20);
});

test('connects to each replica of a comma-separated list', limits, async (t) => {
  const replicas = [await proxyToServer(t), await proxyToServer(t)];
  const served = await serve(t, { DATABASE_REPLICA_URLS: replicas.map(urlOf).join() });
  while (replicas.some((replica) => replica.sent().length === 0)) await callEverything(served, 1);
});
