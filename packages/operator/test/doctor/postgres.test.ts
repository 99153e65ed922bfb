import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { inspectPostgres } from '../../../store/src/postgres/inspect.ts';
import type { RoleName } from '../../../store/src/postgres/roles.ts';
import { receiptAt } from '../../../store/test/suite/receipts.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { freePort, listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { startNetwork } from '../../../testkit/servers/network.ts';
import {
  connectTo,
  emptyDatabase,
  promote,
  startPostgres,
  startStandby,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';
import { urlInRole } from '../../../testkit/servers/roles.ts';
import { fillDatabase, migratedDatabase, openServing } from '../../../testkit/service/database.ts';
import { judgeClock } from '../../src/doctor/database.ts';
import {
  assertFinding,
  assertOnly,
  changed,
  findingsOf,
  inDatabase,
  names,
  newRole,
  serveAs,
  those,
} from './examined.ts';

const sandbox = ['--environment', 'sandbox'];
const onSandbox = (url: string, ...more: string[]) => ['--database', url, ...sandbox, ...more];

/** A good database, changed by these statements. */
async function databaseWith(t: TestContext, ...statements: string[]): Promise<string> {
  const url = await migratedDatabase(t);
  const client = await connectTo(t, url);
  for (const statement of statements) await client.query(statement);
  return url;
}

test('finds no fault in a good database, and reads it in read-only transactions only', async (t) => {
  const url = await urlInRole(t, await migratedDatabase(t), 'network_serve');
  const proxy = await startNetwork(t, { port: Number(new URL(url).port) });
  const findings = await findingsOf(onSandbox(changed(url, { port: String(proxy.port) })));
  assert.deepEqual(those(findings, 'skipped'), ['disk', 'writes', 'receipts']);
  assert.equal(those(findings, 'ok').length, names.length - 3);
  assert.match(findings.writes!.detail, /may not write the audit log.* the DATABASE_URL of admin/);
  assert.match(findings.database!.detail, /^Postgres \d+.* at \S+:\d+ answers\.$/);
  const sent = Buffer.concat([...proxy.sent()]).toString('latin1');
  const [beforeFirst, ...inside] = sent.split('begin read only;');
  assert.ok(inside.length >= 6, sent);
  assert.ok(inside.every((said) => said.includes('rollback')));
  assert.doesNotMatch(beforeFirst!, /settings|api_keys/);
});

test('reports the wrong environment, and the other checks of the database', async (t) => {
  const flags = ['--database', await migratedDatabase(t), '--public-url', 'https://network.example'];
  const findings = await findingsOf(flags);
  const remedy = /^Pass --environment sandbox, or another --database\.$/;
  assertOnly(findings, 'environment', 'failed', /a sandbox database, .* is production/, remedy);
});

test("reports a schema that is old, newer, missing, or another program's", async (t) => {
  const schemaOf = async (url: string) => (await findingsOf(onSandbox(url))).schema!;
  const set = (version: number) => `update settings set value = '${version}' where name = 'schema'`;
  const migrateFirst = /^Run "partner-network migrate" first\.$/;
  assertFinding(await schemaOf(await databaseWith(t, set(0))), 'failed', /has no schema yet/, migrateFirst);
  assertFinding(await schemaOf(await databaseWith(t, set(999))), 'failed', /schema 999/, /newer version/);
  assertFinding(await schemaOf(await emptyDatabase(t)), 'failed', /has no schema yet/, migrateFirst);
  const foreign = await databaseWith(t, 'alter table settings add column theirs integer');
  assertFinding(await schemaOf(foreign), 'failed', /another program/, /another --database/);
});

test('reports an encoding other than UTF8, which serve refuses', async (t) => {
  const url = await emptyDatabase(t, `encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'`);
  const { database, clock } = await findingsOf(onSandbox(url));
  assertFinding(database!, 'failed', /encoding is SQL_ASCII/, /create it with encoding UTF8/);
  assert.equal(clock!.status, 'ok');
});

test('says why a database cannot be reached, and runs the other checks', async (t) => {
  const url = await migratedDatabase(t);
  const nowhere = changed(url, { port: String(await freePort()) });
  const findings = await findingsOf(onSandbox(nowhere));
  assertFinding(findings.database!, 'failed', /at 127\.0\.0\.1:\d+ \(.*ECONNREFUSED/, /Start the server/);
  assert.deepEqual(those(findings, 'skipped'), ['disk', ...inDatabase, 'receipts']);
  assert.deepEqual(those(findings, 'ok'), ['settings', 'open_files', 'replicas', 'redis', 'sign_in']);

  const unnamed = await findingsOf(onSandbox(changed(url, { pathname: 'no_such_database' })));
  assertFinding(unnamed.database!, 'failed', /"no_such_database" does not exist/, /Create the database/);
  const unknown = await findingsOf(onSandbox(changed(url, { username: 'no_such_role' })));
  assertFinding(unknown.database!, 'failed', /"no_such_role"/, /the user in the URL/);
});

test('warns of a second address at which no server answers', async (t) => {
  const url = await migratedDatabase(t);
  const both = url.replace(/@([^/]+)/, `@$1,127.0.0.1:${await freePort()}`);
  const remedy = /correct the host and port/;
  assertOnly(await findingsOf(onSandbox(both)), 'database', 'warning', /failover is not possible/, remedy);
});

test('names both servers if an old primary still accepts writes after the promotion of its standby', {
  skip: withoutOwnServers(),
}, async (t) => {
  const old = await startPostgres(t);
  const standby = await startStandby(t, old);
  const [first, second] = [old, standby].map(({ port }) => `127.0.0.1:${port}`);
  const both = [old.url(), standby.url()];
  const databaseOf = async (...urls: string[]) => {
    const { finding, inspection } = await inspectPostgres(urls, [], 'sandbox');
    await inspection!.close();
    return finding;
  };
  assertFinding(await databaseOf(...both), 'ok', new RegExp(`at ${first} .* A standby is at ${second}\\.$`));
  await promote(standby);
  assertFinding(
    await databaseOf(...both),
    'failed',
    new RegExp(`^${second} and ${first} both accept writes\\. serve uses ${second}:`),
    new RegExp(`^Shut ${first} down, and start it again only as a standby of ${second}\\.$`),
  );
  assertFinding(await databaseOf(old.url(), old.url()), 'ok', /answers/);
  const unrelated = await emptyDatabase(t);
  const isStranger = /^\S+ is not a copy of \S+\.$/;
  assertFinding(await databaseOf(old.url(), unrelated), 'failed', isStranger, /^Remove \S+ from/);
});

test('says which address is the primary, how far the standby is behind, and which to promote', {
  skip: withoutOwnServers(),
}, async (t) => {
  const primary = await startPostgres(t);
  await fillDatabase(primary.url());
  const standby = await startStandby(t, primary);
  const [first, second] = [primary, standby].map(({ port }) => `127.0.0.1:${port}`);
  const both = `postgres://postgres@${first},${second}/postgres`;
  const look = () => findingsOf(onSandbox(both, '--replica', standby.url()));
  const working = await look();
  assertFinding(working.database!, 'ok', new RegExp(`${first} answers as the primary\\. A .* ${second}\\.$`));
  const behind = `^${second} is a standby, at most \\d\\.\\d s behind\\.$`;
  assertFinding(working.replicas!, 'ok', new RegExp(behind));

  const onStandby = await connectTo(t, standby.url());
  await onStandby.query(`alter system set primary_conninfo = ''`);
  await onStandby.query('select pg_reload_conf()');
  const isStreaming = 'select from pg_stat_wal_receiver';
  await until(20_000, async () => (await onStandby.query(isStreaming)).rowCount === 0);
  assertFinding((await look()).replicas!, 'warning', /does not receive the log/, /that it streams/);

  await primary.stop();
  const lost = await look();
  const remedy = new RegExp(`If ${first} is lost, cut it off, and promote ${second}\\.$`);
  assertFinding(lost.database!, 'failed', /it is a standby/, remedy);
  await promote(standby);
  const promoted = await look();
  assertFinding(
    promoted.database!,
    'warning',
    new RegExp(`${second} answers, but a failover is not`),
    /standby/,
  );
  assertFinding(promoted.replicas!, 'ok', new RegExp(`^${second} is the primary now, so all pages`));
});

test('reports different clocks only if the network delay cannot explain it', async (t) => {
  assertFinding(judgeClock(1_001, 0), 'failed', /is 1 s ahead of/, /NTP/);
  assertFinding(judgeClock(-61_000, 400), 'failed', /is 61 s behind/);
  assertFinding(judgeClock(999, 1), 'ok', /within 1 s/);
  assertFinding(judgeClock(-1_300, 400), 'warning', /takes 0\.8 s to answer, too long/);
  assertFinding(judgeClock(700, 400), 'warning', /too long to check/);
  const url = await migratedDatabase(t);
  const ahead = () => Date.now() + 5_000;
  assertOnly(await findingsOf(onSandbox(url), ahead), 'clock', 'failed', /[45](\.\d)? s ahead of/, /NTP/);
});

test('names the privileges that a role lacks, by statements that grant them', async (t) => {
  const url = await migratedDatabase(t);
  const role = await newRole(t, url);
  const flags = onSandbox(changed(url, { username: role }));
  const owner = await connectTo(t, url);

  const lacking = await findingsOf(flags);
  assertFinding(lacking.privileges!, 'failed', /lacks select on settings, .*brands/);
  assertFinding(lacking.schema!, 'failed', /permission denied for table settings/);
  const grantsOf = ({ remedy }: { remedy?: string }) => /: (grant .*)$/.exec(remedy!)![1]!;
  await owner.query('revoke usage on schema public from public');
  await owner.query(grantsOf((await findingsOf(flags)).privileges!));
  const granted = await findingsOf(flags);
  assert.equal(those(granted, 'ok').length, names.length - 3, JSON.stringify(granted));

  const store = await openServing(t, flags[1]!);
  await store.recordReceipts([receiptAt(0)]);
  await store.recordKeyUses([{ keyId: 'KEY_1', usedAt: receiptAt(0).at }]);
});

test('warns of a role that can do more than serve, and of the owner of the tables', async (t) => {
  const url = await migratedDatabase(t);
  const remedy = /network_serve: "partner-network roles"/;
  assertOnly(await findingsOf(onSandbox(url)), 'privileges', 'warning', / owns the tables, /, remedy);
  const serving = await urlInRole(t, url, 'network_serve');
  const owner = await connectTo(t, url);
  await owner.query(`grant update (name) on partners to ${new URL(serving).username}`);
  const detail = /more than serving needs: update on partners\.$/;
  assertOnly(await findingsOf(onSandbox(serving)), 'privileges', 'warning', detail, remedy);
});

test('compares a role with the duty that it is for', async (t) => {
  const url = await migratedDatabase(t);
  const duties = {
    network_serve: 'serving',
    network_import: 'importing',
    network_support: 'support',
    network_operate: 'operating',
    network_admin: 'the administrative service',
    network_retention: 'retention',
  } as const satisfies Record<RoleName, string>;
  const owner = await connectTo(t, url);
  for (const role of Object.keys(duties) as RoleName[]) {
    const login = await urlInRole(t, url, role);
    const finding = async () => (await findingsOf(onSandbox(login))).privileges!;
    const enough = new RegExp(`has all privileges that ${duties[role]} needs, and no others\\.$`);
    assertFinding(await finding(), 'ok', enough);
    await owner.query(`grant update on settings to ${new URL(login).username}`);
    const more = new RegExp(`more than ${duties[role]} needs: update on settings\\.$`);
    assertFinding(await finding(), 'warning', more, new RegExp(`^Use the role ${role}: `));
  }
});

test('reports a read-only database, which serve refuses, even if the role may write', async (t) => {
  const setting = `format('alter database %I set default_transaction_read_only = on', current_database())`;
  const url = await databaseWith(t, `do $$ begin execute ${setting}; end $$`);
  const remedy = /default_transaction_read_only to off/;
  const { privileges, writes } = await findingsOf(onSandbox(url));
  assertFinding(privileges!, 'failed', /is read-only here/, remedy);
  assertFinding(writes!, 'failed', /read-only transaction/);
  await assert.rejects(openServing(t, url), remedy);
});

test('counts the instances that serve a database, with any role, and asks for a Redis', async (t) => {
  const url = await databaseWith(t, 'grant select on all tables in schema public to public');
  const flags = onSandbox(changed(url, { username: await newRole(t, url) }));
  await serveAs(t, url, 'first');
  await serveAs(t, url, 'first');
  assertFinding((await findingsOf(flags)).instances!, 'ok', /^1 instance serves this database now/);
  await serveAs(t, url, 'second');
  const { instances } = await findingsOf(flags);
  assertFinding(instances!, 'failed', /^2 instances .* get up to 2 times the rate/, /same --redis/);
  const unlimited = await findingsOf([...flags, '--brands-rate', '0']);
  assertFinding(unlimited.instances!, 'ok', /No rate limit is set/);
});

test('reports a replica that is not a standby, and a replica that cannot be reached', async (t) => {
  const url = await migratedDatabase(t);
  const nowhere = changed(url, { port: String(await freePort()) });
  const { replicas } = await findingsOf(onSandbox(url, '--replica', url, '--replica', nowhere));
  assertFinding(
    replicas!,
    'failed',
    /^127\.0\.0\.1:\d+: The replica is not a standby\. The replica at .* cannot be reached/,
    /to a streaming standby .* Start the server/,
  );
});

const soon = { timeout: 120_000 };

test('gives up on servers that never answer, and on a server that falls silent', soon, async (t) => {
  const server = createServer((socket) => socket.resume().on('error', () => {}));
  const silent = `127.0.0.1:${await listenOnAnyPort(t, server)}`;
  const url = await migratedDatabase(t);
  const proxy = await startNetwork(t, { port: Number(new URL(url).port) });
  const { inspection } = await inspectPostgres([changed(url, { port: String(proxy.port) })], [], 'sandbox');
  proxy.fallSilent();
  proxy.forget();
  const [findings] = await Promise.all([
    findingsOf([
      ...['--database', `postgres://x:s3cret@${silent}/x`, '--replica', `postgres://x:s3cret@${silent}/x`],
      ...['--redis', `redis://:s3cret@${silent}`],
    ]),
    assert.rejects(inspection!.stamp(), /cannot be reached/),
  ]);
  await assert.rejects(inspection!.rows('select 1'), /cannot be reached/);
  assert.deepEqual(those(findings, 'failed'), ['database', 'replicas', 'redis']);
  assert.doesNotMatch(JSON.stringify(findings), /s3cret/);
});
