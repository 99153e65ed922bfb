/**
 * Follows incidents.md from top to bottom, each section after its real fault, in a folder with the installed
 * program. drills.test.ts and disk-of-postgres.test.ts follow the two sections that are left out here.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { mountSmallDisk } from '../../../packages/service/test/faults/scene/small-disk.ts';
import { until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { run } from '../../../packages/testkit/fixtures/run.ts';
import { metricOf } from '../../../packages/testkit/fixtures/served.ts';
import { haproxyConfig, startHaproxy, withoutHaproxy } from '../../../packages/testkit/servers/haproxy.ts';
import {
  emptyDatabaseOn,
  startPostgres,
  startStandby,
  wholeFile,
  withoutOwnServers,
} from '../../../packages/testkit/servers/postgres.ts';
import { programsFolder } from '../../../packages/testkit/servers/postgres-programs.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { needsOwnRedis, type OwnRedis, startRedis } from '../../../packages/testkit/servers/redis.ts';
import { keepKeysIn } from '../../../packages/testkit/watch/logs.ts';
import { pageFor, root } from '../../sources.ts';
import { type Clone, openTerminal, type RunningScript, shellBlocks } from '../clone.ts';
import { createDrill, type Drill, type IssuedKey, keyIn } from '../drill.ts';
import { openPage, type Page } from '../page.ts';

const disk = mountSmallDisk(64);

let folder: string;
let terminal: Clone;
let drill: Drill;
let page: Page;
let redis: OwnRedis | undefined;
let service: RunningScript;
/** The database that the page works on: the embedded one by default. */
let database: { readonly DATABASE_URL?: string } = {};
let issued: { key: IssuedKey; admin: IssuedKey };

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'partner-network-incidents-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  if (typeof disk !== 'string') symlinkSync(disk.folder, join(folder, 'data'));
  mkdirSync(join(folder, 'haproxy'));
  copyFileSync(haproxyConfig, join(folder, 'haproxy', 'haproxy.cfg'));
  terminal = await openTerminal(folder);
  drill = createDrill(terminal);
  const document = pageFor('operators', 'incidents');
  const sections = /^(?!A flood|The disk of Postgres)/;
  page = openPage(terminal, document, shellBlocks(document, sections).map(harmless));
  if (!needsOwnRedis.skip) redis = await startRedis(wholeFile);
  issued = await setUp();
  for (const n of [1, 2, 3]) {
    await command(`grants create --partner PARTNER_ACME --customer CUSTOMER_${n} --id GRANT_${n}`);
  }
  await importBalances(125050, '2025-05-01T08:00:00Z');
  await importBalances(1250, '2025-07-01T08:00:00Z', '--undo-file undo.jsonl');
  service = await serve();
});
after(async () => {
  await service?.stop();
  terminal.remove();
  if (typeof disk !== 'string') await disk.remove();
});

/** Runs a command that the page does not have. */
async function command(words: string): Promise<string> {
  const { stdout, stderr, status } = await run(words.split(' '), { folder, variables: database });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Creates the database, a partner, and a key of each kind. */
async function setUp() {
  await command('migrate');
  await command('partners create --id PARTNER_ACME --name Acme');
  const admin = keyIn(await command('admin-keys create --name Ana --role ADMIN'));
  return { key: await newKey(), admin };
}

async function newKey(): Promise<IssuedKey> {
  const scopes = '--scope BRANDS_READ --scope BALANCES_READ';
  return keyIn(await command(`keys create --partner PARTNER_ACME ${scopes}`));
}

/** Imports a balance of each customer from a file that is named after the amount. */
async function importBalances(amount: number, updated_at: string, flags = '--overwrite'): Promise<string> {
  const rest = { type: 'CHECKING', currency: 'USD', amount, updated_at };
  const record = (n: number) => ({ id: `BAL_${n}`, customer_id: `CUSTOMER_${n}`, ...rest });
  const lines = [1, 2, 3].map((n) => JSON.stringify(record(n)));
  writeFileSync(join(folder, `${amount}.jsonl`), lines.join('\n'));
  return command(`import balances ${amount}.jsonl ${flags}`);
}

/** Sets the servers of this test in a shell. */
function settings(): string {
  const variables = { ...database, ...(redis === undefined ? {} : { REDIS_URL: redis.url }) };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${value}\n`);
  return lines.join('');
}

function serve(): Promise<RunningScript> {
  return terminal.start(`${settings()}npx partner-network serve`, /Serving production at/);
}

const balancesOf = (customer: number) => `balances?customer_id=CUSTOMER_${customer}&type=CHECKING`;

const metric = (name: string) => metricOf(terminal.here('http://127.0.0.1:9090'), name);

/** Leaves out blocks of the page whose programs are missing here. */
async function leaveOut(t: TestContext, blocks: number, why: string): Promise<void> {
  for (let left = blocks; left > 0; left -= 1) await page.next(/^$/, () => '');
  t.skip(why);
}

/** Adapts every block: nothing changes this machine, even if a section fails and the next ones go on. */
function harmless(block: string): string {
  return block.replaceAll('sudo ', '').replaceAll('/etc/haproxy', 'haproxy').replace('systemctl', 'echo');
}

const orTrue = (block: string) => `${block} || true`;

test('the first commands find what is wrong', async () => {
  await page.next(/^ready\n.*^✓ database .*^✓ receipts /ms, (block) => settings() + block);
});

test('a customer withdraws consent: no partner reads the balances any more', async () => {
  assert.match(await drill.call(issued.key, balancesOf(1)), /^200 /);
  // A receipt is written a moment after its response.
  await until(20_000, async () => (await metric('partner_network_receipts_written_total')) > 0);
  const printed = await page.next(/^Revoked 1 grant\. .* REVOKED +CUSTOMER_1 .* GRANTED +\S+ +CUSTOMER_1 /s);
  assert.doesNotMatch(printed, / ACTIVE /);
  await until(20_000, async () => (await drill.call(issued.key, balancesOf(1))).includes('GRANT_NOT_FOUND'));
  const named = await drill.call(issued.key, `${balancesOf(1)}&grant_id=GRANT_1`);
  assert.match(named, /^403 .*"GRANT_REVOKED"/);
});

test('a customer is erased: no import of older records brings the balances back', async () => {
  await page.next(
    /^Erased customer CUSTOMER_2: deleted 1 balance and 1 grant\. .*\n\{"customer_id":"CUSTOMER_2",/,
  );
  assert.match(await drill.call(issued.key, balancesOf(2)), /^403 .*"GRANT_NOT_FOUND"/);
  const again = await importBalances(1250, '2025-07-01T08:00:00Z', '--skip-invalid');
  assert.match(again, /^3 read, 0 written, 2 unchanged, 1 stale, /);
});

test('a wrong import is found and taken back', async () => {
  assert.match(await drill.call(issued.key, balancesOf(3)), /"amount":1250,/);
  await page.next(/^[^\n]*\n.*"source":"1250\.jsonl","written":3,/);
  const wasRead = / 2 written, 0 unchanged, 1 stale, 0 deleted, 0 rejected\.\nTIME .* CUSTOMER_3 /s;
  await page.next(wasRead);
  assert.match(await drill.call(issued.key, balancesOf(3)), /"amount":125050,/);
});

test('a full disk stops changes and receipts, and they go on when it has room', async (t) => {
  if (typeof disk === 'string') return leaveOut(t, 2, disk);
  disk.fillUp();
  assert.match(await drill.call(issued.key, balancesOf(3)), /^200 /);
  const revoke = command('grants revoke --customer CUSTOMER_3 --all');
  await assert.rejects(revoke, /disk is full.*\nAssume that the grant still works/);
  await page.next(/ 100% .*\/filling\n/s);
  assert.ok((await metric('partner_network_receipts_waiting')) > 0);
  disk.makeRoom();
  await until(30_000, async () => (await metric('partner_network_receipts_waiting')) === 0);
  await page.next(/^✓ disk .*^✓ receipts .*\nRemoved 0 receipts .*\nRemoved 0 counts /ms);
  assert.match(await command('receipts list --customer CUSTOMER_3'), /( GRANTED .*){2}/s);
});

const openssl = programsOnPath(['openssl']).length > 0;

test('an expired certificate is replaced while HAProxy serves', async (t) => {
  if (withoutHaproxy || !openssl) return leaveOut(t, 3, withoutHaproxy || 'needs openssl');
  await terminal.run(`
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout privkey.pem \
      -out fullchain.pem -subj /CN=network.example -addext subjectAltName=DNS:network.example -days 90
    openssl x509 -in fullchain.pem -signkey privkey.pem -days -1 -out expired.pem
    cat expired.pem privkey.pem > haproxy/network.pem`);
  const [port, operationsPort] = [':8080', ':9090'].map((of) => Number(terminal.here(of).slice(1)));
  const behind = { port: port!, operationsPort: operationsPort! };
  const proxy = await startHaproxy(t, [behind, behind], undefined, {
    CERTIFICATE: join(folder, 'haproxy', 'network.pem'),
  });
  const asPartner = (authority: string) =>
    terminal.run(`curl -sS --cacert ${authority} --resolve network.example:${proxy.port}:127.0.0.1 \
      -H 'Authorization: Bearer ${issued.key.key}' https://network.example:${proxy.port}/network/v1/brands`);
  await assert.rejects(asPartner('expired.pem'), /certificate has expired/);

  let look = '';
  const shown = await page.next(/^subject=CN ?= ?network\.example\n/, (block) => {
    look = block.replace('network.example:443', `127.0.0.1:${proxy.port}`);
    return look;
  });
  const endOf = (printed: string) => Date.parse(/^notAfter=(.*)$/m.exec(printed)?.[1] ?? '');
  assert.ok(endOf(shown) < Date.now());
  const check = (block: string) => `PATH=$PATH:/usr/sbin\n${block}\ntest ! -e haproxy/new.pem`;
  await page.fails(/will expire/, (block) => check(block.replace('fullchain.pem', 'expired.pem')));
  await page.next(/^Certificate will not expire\n(Configuration file is valid\n)?$/, check);
  await page.next(/^reload haproxy\n$/);
  proxy.reload();
  await until(30_000, async () => endOf(await terminal.run(look)) > Date.now());
  assert.match(await asPartner('fullchain.pem'), /^\{"brands":/);
});

test('a lost Redis fails no request, and decides again when it returns', async (t) => {
  if (redis === undefined) return leaveOut(t, 1, String(needsOwnRedis.skip));
  await redis.kill();
  await until(20_000, () => service.printed.includes('Redis does not answer'));
  assert.match(await drill.call(issued.key, 'brands'), /^200 /);
  const admittedBy = (source: string) =>
    `partner_network_limiter_decisions_total{operation="brands",source="${source}",outcome="admitted"}`;
  await page.next(/,source="local",outcome="admitted"\} [1-9].*^✗ redis /ms, orTrue);
  await redis.start();
  await until(20_000, () => service.printed.includes('Redis answers again'));
  const before = [await metric(admittedBy('redis')), await metric(admittedBy('local'))];
  assert.match(await drill.call(issued.key, 'brands'), /^200 /);
  const now = [await metric(admittedBy('redis')), await metric(admittedBy('local'))];
  assert.deepEqual(now, [before[0]! + 1, before[1]]);
});

test('a lost primary is a 503, until its standby is promoted', async (t) => {
  const why = withoutOwnServers();
  if (why !== false) return leaveOut(t, 3, why);
  const [psql] = programsOnPath(['psql'], [programsFolder()!]);
  if (psql === undefined) return leaveOut(t, 3, 'needs psql');
  const primary = await startPostgres(wholeFile);
  await emptyDatabaseOn(primary, 'network');
  const standby = await startStandby(wholeFile, primary);
  const servers = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join();
  await service.stop();
  database = { DATABASE_URL: `postgres://postgres@${servers}/network` };
  issued = await setUp();
  service = await serve();
  assert.match(await drill.call(issued.key, 'brands'), /^200 /);

  await primary.stop('immediate');
  assert.match(await drill.call(issued.key, 'brands'), /^503 .*"SERVICE_UNAVAILABLE"/);
  const lost = /^✗ database .*ECONNREFUSED.* \(it is a standby; name the primary\)/m;
  await page.next(lost, (block) => orTrue(settings() + block));
  const ofServer = `export PATH="$PATH:${programsFolder()}"`;
  const promoted = (block: string) =>
    `${ofServer}\n${block.replace('db-2.example', `127.0.0.1:${standby.port}`)}`;
  await page.next(/^ t$/m, promoted);
  await until(20_000, async () => (await drill.call(issued.key, 'brands')).startsWith('200 '));
  await page.next(/^ready\n.*^! database .*PARTNER_ACME.*^0 .* sealing /ms);
});

/** Puts the ids of this test into a block, and pastes the key at its prompt. */
function withIds(key: IssuedKey) {
  return (block: string) => {
    const ours = block.replaceAll('ADMIN_KEY_01943ad894e0', key.id).replaceAll('KEY_01943ad894e0', key.id);
    return block.startsWith('read ') ? `{\n${ours}\n} <<<'${key.key}'` : ours;
  };
}

test('a leaked API key is found, revoked or replaced, and its use is shown', async () => {
  const leaked = issued.key;
  const other = await newKey();
  const found = new RegExp(`^Key ${leaked.id} belongs to partner PARTNER_ACME\\.\nIt is active\\.`);
  await page.next(found, withIds(leaked));
  assert.match(await drill.call(leaked, balancesOf(3)), /^(200|403) /);
  await until(20_000, async () => (await metric('partner_network_receipts_written_total')) > 0);
  await page.next(/ is revoked\. This takes effect on every instance within a second\.\n/, withIds(leaked));
  await drill.refuses(leaked, 'API_KEY_REVOKED');
  const replacement = keyIn(await page.next(/\nKEY_\S+ is revoked\.\n/, withIds(other)));
  await drill.refuses(other, 'API_KEY_REVOKED');
  assert.match(await drill.call(replacement, 'brands'), /^200 /);

  const use = /^\{"errors":.*"API_KEY_REVOKED".* (GRANTED|GRANT_NOT_FOUND) /s;
  const printed = await page.next(use, withIds(leaked));
  assert.doesNotMatch(printed, new RegExp(`PARTNER_ACME(?!.*${leaked.id})`));
  const fresh = keyIn(await page.next(/^pn_live_/m));
  assert.match(await drill.call(fresh, 'brands'), /^200 /);
});

test('a leaked administrative key is revoked, and everything that it changed is listed', async (t) => {
  const { admin } = issued;
  const start = `${settings()}npx partner-network admin`;
  const administration = await terminal.start(start, /Administering production at/);
  t.after(administration.stop);
  const ask = (path: string, options: RequestInit = {}) =>
    fetch(terminal.here(`http://127.0.0.1:8090/admin/v1/${path}`), {
      ...options,
      headers: { Authorization: `Bearer ${admin.key}`, 'Content-Type': 'application/json' },
    });
  const body = JSON.stringify({ partner_id: 'PARTNER_ACME', scopes: ['BALANCES_READ'] });
  const created = await ask('keys/KEY_INTRUDER', { method: 'PUT', body });
  keepKeysIn(await created.text());
  assert.equal(created.status, 201);

  const role = `^This is the administrative key ${admin.id} with the role ADMIN\\.\n`;
  await page.next(new RegExp(role), withIds(admin));
  const actor = `admin-key:${admin.id}`;
  const listed = `is revoked\\. .* keys create +- +KEY_INTRUDER .*${actor}.*\nKEY_INTRUDER .*${actor}`;
  await page.next(new RegExp(listed, 's'), withIds(admin));
  await until(20_000, async () => (await ask('partners')).status === 401);
  page.end();
});
