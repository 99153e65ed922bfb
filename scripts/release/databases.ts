/**
 * Databases of this version with a record of every kind, for each engine. Later versions are tested against
 * them. Only commands and requests of the package write, so the files are what a release makes.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { browserAt } from '../../packages/operator/test/console/scene.ts';
import { apiKeyOf, digestOfKey } from '../../packages/service/src/auth.ts';
import { startAdmin } from '../../packages/testkit/admin/started.ts';
import { openLifetime, temporaryFolder } from '../../packages/testkit/fixtures/lifetime.ts';
import { run } from '../../packages/testkit/fixtures/run.ts';
import { serveSandbox } from '../../packages/testkit/fixtures/served.ts';
import { startPostgres } from '../../packages/testkit/servers/postgres-start.ts';

const early = '2026-01-01T00:00:00.000Z';
const late = '2026-02-01T00:00:00.123Z';
const later = '2026-03-01T00:00:00.000Z';
const future = '2999-01-01T00:00:00Z';
const inOrder = { created_at: early, updated_at: late };

const textOf = (name: string) => apiKeyOf('sandbox', name.padEnd(43, '0'));

const key = (name: string, more: object = {}) => {
  const text = textOf(name);
  const digest = Buffer.from(digestOfKey(text)).toString('hex');
  const scopes = ['BALANCES_READ', 'BRANDS_READ'];
  return { id: `KEY_${name}`, name, scopes, last_four: text.slice(-4), created_at: early, ...more, digest };
};

const partners = [
  {
    id: 'old-acme',
    name: 'Old Acme "Ünïcode" 🦊',
    created_at: early,
    keys: [
      key('oldAcme'),
      key('oldBrands', { scopes: ['BRANDS_READ'] }),
      key('oldExpired', { expires_at: late }),
      key('oldRevoked', { revoked_at: late }),
    ],
  },
  { id: 'old-closed', name: 'Old closed', created_at: early, disabled_at: late, keys: [key('oldClosed')] },
  { id: 'old-empty', name: 'Old without keys', created_at: early, keys: [] },
].map((partner) => ({ environment: 'sandbox', ...partner }));

const brands = [
  {
    id: 'b1',
    name: 'Café \\ \u2028 🦊',
    reference_id: 'one',
    color: '#Ab12eF',
    metadata: { tier: '"gold"' },
  },
  { id: 'b2', name: 'With an image', reference_id: 'two', profile_image_url: 'https://images.example/a.png' },
  { id: 'b3', name: 'Empty metadata', reference_id: 'two', metadata: {} },
  { id: 'b4', name: 'Large metadata', reference_id: 'two', metadata: { large: 'é'.repeat(16_000) } },
  { id: 'b5', name: 'Deleted', reference_id: 'two' },
  ...Array.from({ length: 120 }, (_, n) => ({ id: `c${n}`, name: `Brand ${n}`, reference_id: `r${n % 7}` })),
].map((brand) => ({ ...brand, ...inOrder }));

const money = { type: 'CHECKING', currency: 'USD', ...inOrder };
const balances = [
  { ...money, customer_id: 'old-alice', id: 'bal1', amount: 9_007_199_254_740_991 },
  { ...money, customer_id: 'old-alice', id: 'bal2', amount: -9_007_199_254_740_991 },
  { ...money, customer_id: 'old-alice', id: 'bal3', amount: 0 },
  { ...money, customer_id: 'old-alice', id: 'deleted', amount: 1 },
  { ...money, customer_id: 'old-bob', id: 'bal1', amount: 424_242_424_242 },
  { ...money, customer_id: 'old-erased', id: 'bal1', amount: 424_242_424_242 },
];

const grants = [
  { customer_id: 'old-alice', id: 'active' },
  { customer_id: 'old-alice', id: 'until-2999', expires_at: future },
  { customer_id: 'old-alice', id: 'past', expires_at: late },
  { customer_id: 'old-alice', id: 'consumed', status: 'CONSUMED' },
  { customer_id: 'old-alice', id: 'expired', status: 'EXPIRED', expires_at: future },
  { customer_id: 'old-alice', id: 'revoked' },
].map((grant) => ({ partner_id: 'old-acme', action: 'CHECKING_BALANCE', ...inOrder, ...grant }));

const linesOf = (records: readonly object[]) => records.map((record) => JSON.stringify(record)).join('\n');

/** Runs the program at `program`, as every step of this file does. Returns what it prints. */
async function command(program: string, database: string, words: string, input = ''): Promise<string> {
  const where = ['--environment', 'sandbox', '--database', database];
  const variables = { PARTNER_NETWORK_ACTOR: 'release:keep' };
  const { status, stdout, stderr } = await run([...words.split(' '), ...where], {
    program,
    variables,
    input,
  });
  assert.equal(status, 0, stderr);
  return stdout;
}

/** A person signs in to the console and out again. */
async function signOut(program: string, database: string): Promise<void> {
  const printed = await command(program, database, 'admin-keys create --name old --role ADMIN --json');
  await using lifetime = openLifetime();
  const admin = await startAdmin(lifetime, database, [], { program });
  const browser = browserAt(admin.address);
  await browser.signIn(JSON.parse(printed).key);
  assert.equal((await browser.post('/console/sign-out')).status, 303);
  admin.signal('SIGTERM');
  assert.equal(await admin.ended, 0);
}

async function fill(program: string, database: string): Promise<void> {
  const steps: readonly [words: string, records?: readonly object[]][] = [
    ['migrate'],
    ['partners import -', partners],
    ['import brands - --partner old-acme', brands],
    ['import brands - --partner old-acme', [{ id: 'b5', deleted_at: later }]],
    ['import balances -', balances],
    ['import balances -', [{ customer_id: 'old-alice', id: 'deleted', deleted_at: later }]],
    ['import grants -', grants],
    ['grants revoke revoked'],
    ['customers erase old-erased --yes'],
    ['cursor-key rotate'],
  ];
  for (const [words, records = []] of steps) await command(program, database, words, linesOf(records));
  await using lifetime = openLifetime();
  const served = await serveSandbox(lifetime, database, [], { program });
  for (const grant of ['active', 'revoked', 'consumed', 'past', 'absent']) {
    const query = `?customer_id=old-alice&type=CHECKING&grant_id=${grant}`;
    await served.balances(query, { key: textOf('oldAcme') });
  }
  served.signal('SIGTERM');
  assert.equal(await served.ended, 0);
  await signOut(program, database);
}

/** Writes the databases to a folder. Needs the pg_dump of Postgres 15: all later versions load its output. */
export async function keepDatabases(program: string, folder: string): Promise<void> {
  const keep = (name: string, content: string | Uint8Array) =>
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  await using lifetime = openLifetime();
  const temporary = temporaryFolder(lifetime);
  const path = join(temporary, 'old.db');
  const copy = join(temporary, 'copy.db');
  await fill(program, `sqlite:${path}`);
  // A copy, because the file itself may lack what is still in its write-ahead log.
  await command(program, `sqlite:${path}`, `backup ${copy}`);
  keep('sqlite.db', readFileSync(copy));
  keep('sqlite.db-receipts', readFileSync(`${copy}-receipts`));

  const url = (await startPostgres(lifetime)).url();
  await fill(program, url);
  const words = ['--inserts', '--no-owner', '--no-privileges', url];
  const { stdout, stderr, status } = spawnSync('pg_dump', words, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  // A line that begins with a backslash is for psql.
  keep('postgres.sql', stdout.replace(/^\\.*\n/gm, ''));
}
