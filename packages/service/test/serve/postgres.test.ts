/** What an operator does on Postgres, with the real executable, on a server that requires a password. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { selfSigned } from '../../../operator/test/images/certificate.ts';
import { createCaller } from '../../../testkit/fixtures/http.ts';
import { temporaryFolder, until } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, type Finished, run, serve } from '../../../testkit/fixtures/run.ts';
import {
  connectTo,
  type PostgresServer,
  startPostgres,
  withoutOwnServers,
} from '../../../testkit/servers/postgres.ts';

const limits = { skip: withoutOwnServers() };

/** Contains characters that must be encoded in an address. */
const password = 's3cret/w@rd';
const secret = /s3cret|w@rd|w%40rd|wr0ng/i;

interface Guarded extends PostgresServer {
  /** The database URL for this role. */
  addressFor(role: string, word?: string): string;
}

/** A server that requires passwords, with a database, its owner, and a role that can only read. */
async function startGuarded(t: TestContext): Promise<Guarded> {
  const server = await startPostgres(t);
  const client = await connectTo(t, server.url());
  for (const role of ['network', 'reader']) {
    await client.query(`create role ${role} login password '${password}'`);
  }
  await client.query('create database network owner network template template0');
  await server.stop();
  const rules = 'host all postgres all trust\nhost all all all scram-sha-256\n';
  writeFileSync(join(server.folder, 'pg_hba.conf'), rules);
  await server.start();
  return {
    ...server,
    addressFor: (role, word = password) =>
      `postgres://${role}:${encodeURIComponent(word)}@127.0.0.1:${server.port}/network`,
  };
}

/** Runs commands on a database, and checks that they print no password. */
function lineOn(url: string) {
  const command = async (words: readonly string[], input = ''): Promise<Finished> => {
    const finished = await run(words, { variables: { DATABASE_URL: url }, input });
    assert.doesNotMatch(finished.stdout + finished.stderr, secret);
    return finished;
  };
  const json = async <Answer>(words: string, input = '', expected = 0): Promise<Answer> => {
    const { status, stdout, stderr } = await command([...words.split(' '), '--json'], input);
    assert.equal(status, expected, stderr);
    return JSON.parse(stdout);
  };
  return { command, json };
}

/** Serves with the URL from a file, which no other process can see. */
async function serveOn(t: TestContext, url: string) {
  const flags = ['--drain-delay', '0', '--log-level', 'trace'];
  const file = join(temporaryFolder(t), 'database-url');
  writeFileSync(file, `${url}\n`);
  const served = await serve(t, flags, { variables: { DATABASE_URL_FILE: file } });
  const caller = createCaller(served.port);
  t.after(() => caller.disconnect());
  return { ...caller, ...served };
}

interface Key {
  readonly id: string;
  readonly key: string;
}

test('serves for a role that can read and write receipts, and nothing else', limits, async (t) => {
  const server = await startGuarded(t);
  const { json } = lineOn(server.addressFor('network'));
  await json('migrate');
  await json('partners create --id acme --name Acme');
  const { key } = await json<Key>('keys create --partner acme --scope BRANDS_READ');

  const reader = lineOn(server.addressFor('reader'));
  assertFailed(
    await reader.command(['partners', 'list']),
    1,
    /^The database denies access: .*\. This command needs the role network_support: [^\n]*\n$/,
  );
  const owner = await connectTo(t, server.addressFor('network'));
  await owner.query('grant select on all tables in schema public to reader');
  const refused = await reader.command(['serve', '--port', '0', '--ops-port', '0']);
  assertFailed(
    refused,
    1,
    /^The role reader lacks insert on receipts.* grant insert on receipts, key_uses, usage to reader;/,
  );
  await owner.query(`grant insert on receipts, key_uses, usage to reader;
      grant update on key_uses, usage to reader`);
  const service = await serveOn(t, server.addressFor('reader'));
  assert.equal((await service.brands('', { key })).status, 200);
  assert.equal((await service.balances('?customer_id=alice&type=CHECKING', { key })).status, 403);
  const receipts = () => json<{ outcome: string }[]>('receipts list --partner acme');
  await until(20_000, async () => (await receipts())[0]?.outcome === 'INSUFFICIENT_SCOPES');
  const disabled = await reader.command(['partners', 'disable', 'acme']);
  assertFailed(
    disabled,
    1,
    /^The database denies access: permission denied for table partners\. This command .*\n.* still work /m,
  );
});

/** Finds the password in the file of PGPASSFILE as psql does, without a word about the file. */
async function assertPasswordFile(t: TestContext, { port }: Guarded): Promise<void> {
  const PGPASSFILE = join(temporaryFolder(t), 'passwords');
  const DATABASE_URL = `postgres://network@127.0.0.1:${port}/network`;
  const list = () => run(['partners', 'list', '--json'], { variables: { DATABASE_URL, PGPASSFILE } });
  const others = `# a comment\n*:1:*:*:wr0ng\n127.0.0.1:${port}:other\\:one:*:wr0ng\n`;
  writeFileSync(PGPASSFILE, `${others}*:${port}:network:net\\work:${password}\n*:*:*:*:wr0ng\n`, {
    mode: 0o600,
  });
  const { status, stdout, stderr } = await list();
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(JSON.parse(stdout)[0].id, 'acme');

  chmodSync(PGPASSFILE, 0o640);
  assertFailed(await list(), 1, /\(others may read the password file .*: set its mode to 0600\)/);
}

test('prints no password, neither when the server refuses it nor when it goes away', limits, async (t) => {
  const server = await startGuarded(t);
  const url = server.addressFor('network');
  await lineOn(url).json('migrate');
  await lineOn(url).json('partners create --id acme --name Acme');
  const { key } = await lineOn(url).json<Key>('keys create --partner acme --scope BRANDS_READ');

  const refused = lineOn(server.addressFor('network', 'wr0ng'));
  for (const words of [['migrate'], ['serve', '--port', '0', '--ops-port', '0'], ['partners', 'list']]) {
    const said =
      /^Cannot open the database at 127\.0\.0\.1:\d+ \(password authentication failed .*\)\. Check .*\n$/;
    assertFailed(await refused.command(words), 1, said);
  }

  const { status, stdout } = await refused.command(['doctor']);
  assert.equal(status, 1);
  assert.match(stdout, /^✗ database .*\(password authentication failed .*\n +Correct the password:/m);

  await assertPasswordFile(t, server);

  const service = await serveOn(t, url);
  assert.equal((await service.brands('', { key })).status, 200);
  await server.stop();
  assert.equal((await service.brands('', { key })).status, 503);
  await service.says('stdout', /"status":503/);
  service.signal('SIGTERM');
  assert.equal(await service.ended, 0);
  assert.doesNotMatch(service.texts().stdout + service.texts().stderr, secret);
});

test('trusts the certificate of PGSSLROOTCERT, as psql does', limits, async (t) => {
  const server = await startPostgres(t);
  const { key, cert } = selfSigned('localhost');
  const { uid, gid } = statSync(server.folder);
  for (const [name, content] of [['server.key', key] as const, ['server.crt', cert] as const]) {
    writeFileSync(join(server.folder, name), content, { mode: 0o600 });
    chownSync(join(server.folder, name), uid, gid);
  }
  await (await connectTo(t, server.url())).query('alter system set ssl = on');
  await server.stop();
  writeFileSync(join(server.folder, 'pg_hba.conf'), 'hostssl all all all trust\n');
  await server.start();
  const DATABASE_URL = `postgres://postgres@localhost:${server.port}/postgres`;
  const PGSSLROOTCERT = join(temporaryFolder(t), 'root.crt');
  writeFileSync(PGSSLROOTCERT, cert);
  const settings: readonly Record<string, string>[] = [
    { DATABASE_URL, PGSSLMODE: 'verify-full', PGSSLROOTCERT },
    { DATABASE_URL: `${DATABASE_URL}?sslmode=verify-full`, PGSSLROOTCERT },
    { DATABASE_URL: `${DATABASE_URL}?sslrootcert=${PGSSLROOTCERT}`, PGSSLROOTCERT: '/dev/null' },
  ];
  for (const variables of settings) {
    const { status, stderr } = await run(['migrate', '--json'], { variables });
    assert.deepEqual([status, stderr], [0, '']);
  }
  const variables = { DATABASE_URL, PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/no/such.crt' };
  assertFailed(await run(['partners', 'list'], { variables }), 1, /\(ENOENT: .*\/no\/such\.crt.*\)/);
});
