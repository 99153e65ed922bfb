/** The command `admin`, as an operator runs it. */
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { exported } from '../../../store/test/suite/exports.ts';
import { adminKeys, createAdminKeys, startAdmin } from '../../../testkit/admin/started.ts';
import { fillFixture, future } from '../../../testkit/fixtures/fixture.ts';
import { assertFailed, commandLine, run } from '../../../testkit/fixtures/run.ts';
import { scriptedProvider } from '../../../testkit/identity/scripted.ts';
import { testedPackage } from '../../../testkit/package/tested.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { urlInRole } from '../../../testkit/servers/roles.ts';
import { openTestDatabase } from '../../../testkit/service/database.ts';
import { type Body, balance, createKeyUntil, engines } from './scene.ts';

async function filled(t: TestContext, engine: string) {
  const database = await openTestDatabase(t, 'fixture', fillFixture, engine);
  await createAdminKeys(database.store);
  await createKeyUntil(future, database.store);
  return database;
}

const quiet = ['--log-level', 'error'];

const lineOf = (customer_id: string, id: number) => `${JSON.stringify(balance(`B${id}`, { customer_id }))}\n`;

for (const engine of engines) {
  test(`a batch is whole or absent after kill -9, and its repetition completes it (${engine})`, async (t) => {
    const { url, store } = await filled(t, engine);
    const batches = Array.from({ length: 40 }, (_, batch) =>
      Array.from({ length: 300 }, (_, line) => lineOf(`killed-${batch}`, line)).join(''),
    );
    const first = await startAdmin(t, url, quiet);
    const acknowledged = new Set<number>();
    const sending = batches.map(async (body, index) => {
      const response = await first.send('balances', body).catch(() => undefined);
      if (response?.status !== 200) return;
      acknowledged.add(index);
      if (acknowledged.size === 5) first.signal('SIGKILL');
    });
    await Promise.all(sending);
    await first.ended;
    const stored = async () => {
      const lines = (await exported(store, 'balances')).map((line) => JSON.parse(line).customer_id);
      return batches.map((_, index) => lines.filter((customer) => customer === `killed-${index}`).length);
    };
    for (const [index, count] of (await stored()).entries()) {
      assert.ok(count === 300 || (count === 0 && !acknowledged.has(index)), `batch ${index}: ${count} lines`);
    }
    const second = await startAdmin(t, url, quiet);
    for (const body of batches) {
      const response = await second.send('balances', body);
      const { written, unchanged } = (await response.json()) as Body;
      assert.equal(written + unchanged, 300);
    }
    assert.deepEqual(new Set(await stored()), new Set([300]));
    assert.equal((await fetch(`${second.operations}/readyz`)).status, 200);
    const metrics = await (await fetch(`${second.operations}/metrics`)).text();
    assert.match(metrics, /^partner_network_ready 1$/m);
    assert.match(metrics, /^partner_network_key_expiry_seconds \d+/m);
    assert.match(metrics, /^partner_network_batches_total\{kind="balances",outcome="committed"\} 40$/m);
    second.signal('SIGTERM');
    assert.equal(await second.ended, 0);
  });
}

/** Holds a lock in another process, until the function that is returned is called. */
const lockers: Record<string, (t: TestContext, url: string, table: string) => Promise<() => unknown>> = {
  sqlite: async (t, url) => {
    const writer = new DatabaseSync(url.slice('sqlite:'.length));
    t.after(() => writer.close());
    writer.exec('begin immediate');
    return () => writer.exec('rollback');
  },
  postgres: async (t, url, table) => {
    const owner = await connectTo(t, url);
    await owner.query(`begin; lock table ${table} in access exclusive mode`);
    return () => owner.query('rollback');
  },
};

const onCluster = process.env.TEST_CITUS_WORKERS !== undefined && 'a distributed table takes no trigger';

for (const [engine, lock] of Object.entries(lockers)) {
  test(`a batch and a change get 503 after 2 s behind a lock, and work later (${engine})`, async (t) => {
    const { url } = await filled(t, engine);
    const { send, address } = await startAdmin(t, url, quiet);
    const headers = { authorization: `Bearer ${adminKeys.SUPPORT}` };
    const disable = () => fetch(`${address}/admin/v1/partners/acme/disable`, { method: 'POST', headers });
    const works = { balances: () => send('balances', lineOf('locked', 1)), partners: disable };
    for (const [table, work] of Object.entries(works)) {
      const unlock = await lock(t, url, table);
      const startedMs = performance.now();
      const refused = await work();
      const waitedMs = performance.now() - startedMs;
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
      // Not the 38 s of the whole request. The nodes of a cluster wait until the time of the batch is over.
      const mostMs = onCluster ? 36_000 : 20_000;
      assert.ok(waitedMs >= 1_900 && waitedMs < mostMs, `${table}: ${waitedMs} ms`);
      await unlock();
      assert.equal((await work()).status, 200);
    }
  });
}

test('a batch whose connection is lost is sent once more', { skip: onCluster }, async (t) => {
  const { url } = await filled(t, 'postgres');
  const { send } = await startAdmin(t, url, quiet);
  const owner = await connectTo(t, url);
  // A sequence keeps its number when the transaction is lost, so only the first write ends its connection.
  await owner.query(`create sequence writes;
    create function lose() returns trigger language plpgsql as $$ begin
      if nextval('writes') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
      return null;
    end $$;
    create trigger lose before insert on balances for each statement execute function lose()`);
  const answer = await send('balances', lineOf('a', 1));
  const { written } = (await answer.json()) as { written: number };
  assert.deepEqual([answer.status, written], [200, 1]);
});

test('it runs in the role network_admin, which cannot write administrative keys', async (t) => {
  const { url } = await filled(t, 'postgres');
  const inRole = await urlInRole(t, url, 'network_admin');
  const { send } = await startAdmin(t, inRole, quiet);
  assert.equal((await send('balances', lineOf('role', 1))).status, 200);
  const client = await connectTo(t, inRole);
  await assert.rejects(client.query(`update admin_keys set revoked_at = now()`), /permission denied/);
  const serving = await urlInRole(t, url, 'network_serve');
  const refused = await run(['admin', '--environment', 'sandbox', '--database', serving, '--port', '0']);
  assertFailed(refused, 1, /^The role \S+ lacks .*insert on .*partners/);
});

test('it never creates or upgrades a database', async (t) => {
  const line = commandLine(t);
  const flags = ['--environment', 'sandbox', '--port', '0', '--ops-port', '0'];
  assertFailed(await line.run(['admin', ...flags]), 1, /does not exist/);
  await line.inside(async () => {}, 'sandbox');
  const db = new DatabaseSync(line.databasePath);
  db.exec('pragma user_version = 3');
  db.close();
  const old = await run(['admin', ...flags, '--database', line.database]);
  assertFailed(old, 1, /has schema 3, but this program needs \d+.*partner-network migrate/s);
  const other = commandLine(t);
  await other.inside(async () => {}, 'sandbox');
  const receipts = new DatabaseSync(`${other.databasePath}-receipts`);
  receipts.exec('pragma user_version = 1');
  receipts.close();
  const upgrade = /^Cannot open the receipts \S+: The database has schema 1.*partner-network migrate/s;
  assertFailed(await other.run(['admin', ...flags]), 1, upgrade);
  rmSync(`${other.databasePath}-receipts`);
  const create = /^Cannot open the receipts \S+: the file does not exist.*"partner-network migrate"/s;
  assertFailed(await other.run(['admin', ...flags]), 1, create);
  assert.ok(!existsSync(`${other.databasePath}-receipts`));
  const migrated = await other.run(['migrate', '--environment', 'sandbox']);
  assert.deepEqual([migrated.status, existsSync(`${other.databasePath}-receipts`)], [0, true]);
});

test('its page and its OpenAPI document need no key', async (t) => {
  const { url } = await filled(t, 'sqlite');
  const { address } = await startAdmin(t, url, quiet);
  const page = await fetch(`${address}/docs`);
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'/);
  const text = await page.text();
  const pages: string[] = [];
  for (const [, path = ''] of text.matchAll(/href="((?!#)[^"]+)"/g)) {
    const linked = await fetch(`${address}/${path}`);
    assert.equal(linked.status, 200, path);
    pages.push(await linked.text());
  }
  const all = pages.join('');
  assert.match(all, /<h1 [^>]+>Send a batch of balances<\/h1>/);
  assert.match(all, /--data-binary @balances\.jsonl/);
  assert.match(all, /<code>reason<\/code><\/td><td[^>]*><em>Optional\. String, 1 to 256 characters\.<\/em>/);
  assert.doesNotMatch(all, /undefined/);
  const search = await fetch(`${address}/docs/search?q=revoke+key`);
  assert.match(await search.text(), /<li><a href="[^"]+operations\/revokeKey"/);
  const browser = { headers: { accept: 'text/html' } };
  assert.match(
    await (await fetch(`${address}/docs/nowhere`, browser)).text(),
    /<title>This page does not exist/,
  );
  const answer = await fetch(`${address}/admin/v1/openapi.json`);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const document = (await answer.json()) as Body;
  assert.equal(document.servers[0].url, `${address}/admin/v1`);
});

test('the modules for sign-in with an identity provider are loaded at the first sign-in', {
  skip: testedPackage() !== undefined && 'the package has all modules in one file',
}, async (t) => {
  const { url } = await filled(t, 'sqlite');
  const { issuer } = await scriptedProvider(t);
  const preload = new URL('../../../testkit/watch/loaded-modules.ts', import.meta.url).href;
  const oidc = { ADMIN_OIDC_CLIENT_ID: 'console', ADMIN_OIDC_ROLES: 'cn=ops,dc=example=ADMIN,staff=VIEWER' };
  const variables = { NODE_OPTIONS: `--import=${preload}`, ADMIN_OIDC_ISSUER: issuer.origin, ...oidc };
  for (const isUsed of [false, true]) {
    const started = await startAdmin(t, url, quiet, { variables });
    const start = `${started.address}/console/sign-in/start`;
    if (isUsed) assert.equal((await fetch(start, { redirect: 'manual' })).status, 303);
    started.signal('SIGINT');
    await started.ended;
    const loaded = started.texts().stderr.trimEnd().split('\n').at(-1)!;
    for (const name of ['openid-client', 'oauth4webapi']) assert.equal(loaded.includes(name), isUsed, name);
  }
});

test('wrong settings of sign-in are reported at once, with status 2', async () => {
  const cases: [flags: string[], ...said: RegExp[]][] = [
    [['--oidc-only'], /--oidc-only needs --oidc-issuer/],
    [['--oidc-issuer', 'http://idp.example'], /--oidc-issuer must begin with https/],
    [['--oidc-role', 'ops=INGEST', '--oidc-session', '9h'], /--oidc-role must be VALUE=ROLE/, /15m to 8h/],
    [
      ['--oidc-issuer', 'https://idp.example', '--host', '0.0.0.0', '--oidc-scopes', 'email'],
      /needs --oidc-client-id/,
      /needs --oidc-role at least once/,
      /must contain openid/,
      /needs a --public-url with https/,
    ],
  ];
  for (const [flags, ...said] of cases) {
    const { status, stderr } = await run(['admin', ...flags]);
    assert.equal(status, 2, stderr);
    for (const sentence of said) assert.match(stderr, sentence);
  }
});
