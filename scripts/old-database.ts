/**
 * Writes a database of this version with one record of every kind, for each engine, to
 * packages/testkit/old-databases. Later versions are tested against these files. Run it before the first
 * migration after a release: `node scripts/old-database.ts`. It needs the pg_dump of Postgres 15, whose
 * output every later version can load.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { apiKeyOf, digestOfKey } from '../packages/server/src/auth/api-key.ts';
import { migrations } from '../packages/server/src/store/postgres/migrate.ts';
import { databaseSchema } from '../packages/server/src/store/sqlite/migrate.ts';
import { temporaryFolder } from '../packages/testkit/fixtures/folder.ts';
import { openLifetime } from '../packages/testkit/fixtures/lifetime.ts';
import { run } from '../packages/testkit/fixtures/run.ts';
import { serveSandbox } from '../packages/testkit/fixtures/served.ts';
import { startPostgres } from '../packages/testkit/servers/postgres-start.ts';

const [early, late, future] = [
  '2026-01-01T00:00:00.000Z',
  '2026-02-01T00:00:00.123Z',
  '2999-01-01T00:00:00Z',
];
const inOrder = { created_at: early, updated_at: late };
/** Schema 1 of the embedded database, and 3 of Postgres, accept this. Leave it out for later ones. */
const reversed = { created_at: late, updated_at: early };

const textOf = (name: string) => apiKeyOf('sandbox', name.padEnd(43, '0'));

const key = (name: string, more: object = {}) => {
  const text = textOf(name);
  const digest = Buffer.from(digestOfKey(text)).toString('hex');
  const scopes = ['BALANCES_READ', 'BRANDS_READ'];
  return { id: `KEY_${name}`, name, scopes, last_four: text.slice(-4), created_at: early, ...more, digest };
};

const partners = [
  {
    ...{ id: 'old-acme', name: 'Old Acme "Ünïcode" 🦊', created_at: early },
    keys: [
      ...[key('oldAcme'), key('oldBrands', { scopes: ['BRANDS_READ'] })],
      ...[key('oldExpired', { expires_at: late }), key('oldRevoked', { revoked_at: late })],
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
  { id: 'b4', name: 'Large metadata', reference_id: 'two', metadata: { large: 'é'.repeat(20_000) } },
  ...Array.from({ length: 120 }, (_, n) => ({ id: `c${n}`, name: `Brand ${n}`, reference_id: `r${n % 7}` })),
].map((brand) => ({ ...brand, ...inOrder }));

const money = { type: 'CHECKING', currency: 'USD', ...inOrder };
const balances = [
  { ...money, customer_id: 'old-alice', id: 'bal1', amount: 9_007_199_254_740_991 },
  { ...money, customer_id: 'old-alice', id: 'bal2', amount: -9_007_199_254_740_991 },
  { ...money, customer_id: 'old-alice', id: 'bal3', amount: 0, ...reversed },
  { ...money, customer_id: 'old-bob', id: 'bal1', amount: 424_242_424_242 },
];

const grants = [
  { customer_id: 'old-alice', id: 'active' },
  { customer_id: 'old-alice', id: 'until-2999', expires_at: future },
  { customer_id: 'old-alice', id: 'past', expires_at: late },
  { customer_id: 'old-alice', id: 'consumed', status: 'CONSUMED' },
  { customer_id: 'old-alice', id: 'expired', status: 'EXPIRED', expires_at: future },
  { customer_id: 'old-alice', id: 'revoked' },
  { customer_id: 'old-bob', id: 'reversed', status: 'REVOKED', ...reversed },
].map((grant) => ({ partner_id: 'old-acme', action: 'CHECKING_BALANCE', ...inOrder, ...grant }));

const linesOf = (records: readonly object[]) => records.map((record) => JSON.stringify(record)).join('\n');

async function command(database: string, words: string, input = ''): Promise<void> {
  const where = ['--environment', 'sandbox', '--database', database];
  const { status, stderr } = await run([...words.split(' '), ...where], { input });
  assert.equal(status, 0, stderr);
}

/** Only commands and requests write, so that the files are what this version makes. */
async function fill(database: string): Promise<void> {
  await command(database, 'migrate');
  await command(database, 'partners import -', linesOf(partners));
  await command(database, 'import brands - --partner old-acme', linesOf(brands));
  await command(
    database,
    'import brands - --partner old-closed',
    linesOf([{ id: 'b1', name: 'Reversed', reference_id: 'one', ...reversed }]),
  );
  await command(database, 'import balances -', linesOf(balances));
  await command(database, 'import grants -', linesOf(grants));
  await command(database, 'grants revoke revoked');
  await command(database, 'cursor-key rotate');
  await using lifetime = openLifetime();
  const served = await serveSandbox(lifetime, database);
  for (const grant of ['active', 'revoked', 'consumed', 'past', 'absent']) {
    await served.balances(`?customer_id=old-alice&type=CHECKING&grant_id=${grant}`, {
      key: textOf('oldAcme'),
    });
  }
  served.signal('SIGTERM');
  assert.equal(await served.ended, 0);
}

const folder = new URL('../packages/testkit/old-databases/', import.meta.url);
const keep = (name: string, content: string | Uint8Array) =>
  writeFileSync(new URL(`${name}.gz`, folder), gzipSync(content, { level: 9 }));

await using lifetime = openLifetime();
const temporary = temporaryFolder(lifetime);
const [path, copy] = [join(temporary, 'old.db'), join(temporary, 'copy.db')];
await fill(`sqlite:${path}`);
// A copy, because the file itself may lack what is still in its write-ahead log.
await command(`sqlite:${path}`, `backup ${copy}`);
keep(`sqlite-${databaseSchema.current}.db`, readFileSync(copy));
keep(`sqlite-${databaseSchema.current}.db-receipts`, readFileSync(`${copy}-receipts`));

const url = (await startPostgres(lifetime)).url();
await fill(url);
const words = ['--inserts', '--no-owner', '--no-privileges', url];
const { stdout, status } = spawnSync('pg_dump', words, { encoding: 'utf8' });
assert.equal(status, 0);
// A line that begins with a backslash is for psql.
keep(`postgres-${migrations.current}.sql`, stdout.replace(/^\\.*\n/gm, ''));
