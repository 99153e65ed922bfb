import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { toCreate, toServe } from '../../../store/src/address.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { assertFinding, assertOnly, findingsOf, inDatabase, names, those } from './examined.ts';

function change(path: string, statements: readonly string[]): void {
  using db = new DatabaseSync(path);
  for (const statement of statements) db.exec(statement);
}

async function newDatabase(t: TestContext, ...statements: string[]) {
  const path = join(temporaryFolder(t), 'test.db');
  await openSqlite(path, 'production', toCreate).close();
  change(path, statements);
  return { path, flags: ['--database', `sqlite:${path}`, '--public-url', 'https://network.example'] };
}

/** A database with receipts, as `serve` leaves them, changed by these statements. */
async function withReceipts(t: TestContext, ...statements: string[]) {
  const made = await newDatabase(t);
  const receipts = `${made.path}-receipts`;
  await openSqlite(made.path, 'production', toServe).close();
  change(receipts, statements);
  return { ...made, receipts };
}

/** The files of a folder with their bytes and modification times. */
function stateOf(path: string) {
  const folder = join(path, '..');
  return readdirSync(folder).map((name) => {
    const file = join(folder, name);
    return [name, statSync(file).mtimeMs, readFileSync(file).toString('base64')];
  });
}

test('finds no fault in a good database, and changes nothing', async (t) => {
  const { path, flags } = await withReceipts(t);
  const before = stateOf(path);
  assert.equal(before.length, 2);
  const findings = await findingsOf(flags);
  // The embedded database does not record its instances.
  assert.deepEqual(those(findings, 'skipped'), ['instances', 'receipts']);
  assert.equal(those(findings, 'ok').length, names.length - 2);
  assert.deepEqual(stateOf(path), before);
});

test('sees what another process has just written, and leaves its WAL alone', async (t) => {
  const { path, flags } = await newDatabase(t);
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec(`update settings set value = 'sandbox' where name = 'environment'`);
  const before = readdirSync(join(path, '..'));
  assert.equal((await findingsOf(flags)).environment!.status, 'failed');
  assert.deepEqual(readdirSync(join(path, '..')), before);
});

test('does not merge the log of a killed process, or that of a file that was replaced', async (t) => {
  const { path, flags } = await newDatabase(t);
  const other = await newDatabase(t);
  const files = [path, `${path}-wal`];
  const bytes = () => files.map((file) => readFileSync(file).toString('base64'));
  const open = new DatabaseSync(path);
  open.exec(`create table later (id integer); insert into later values (1)`);
  for (const file of [...files, `${path}-shm`]) copyFileSync(file, `${file}.copy`);
  // The file is replaced while a process has it open. Only the path of its log is the same.
  copyFileSync(other.path, `${path}.new`);
  renameSync(`${path}.new`, path);
  const replaced = bytes();
  assert.notEqual((await findingsOf(flags)).writes!.status, 'failed');
  assert.deepEqual(bytes(), replaced);
  open.close();

  for (const file of [...files, `${path}-shm`]) renameSync(`${file}.copy`, file);
  const killed = bytes();
  assert.equal((await findingsOf(flags)).writes!.status, 'ok');
  assert.deepEqual(bytes(), killed);
});

test('creates no database, and reports the other checks', async (t) => {
  const path = join(temporaryFolder(t), 'missing', 'test.db');
  const findings = await findingsOf(['--database', `sqlite:${path}`, '--public-url', 'https://a.example']);
  assertFinding(findings.database!, 'failed', /\/.*test\.db does not exist\.$/, /--database.*migrate/);
  assert.deepEqual(those(findings, 'skipped'), [...inDatabase, 'receipts']);
  assert.deepEqual(those(findings, 'ok'), ['settings', 'open_files', 'disk', 'replicas', 'redis', 'sign_in']);
  assert.ok(!existsSync(join(path, '..')));
});

test('reports a file that is not a database, and a path where no database can be', async (t) => {
  const file = join(temporaryFolder(t), 'letter.txt');
  writeFileSync(file, 'Dear database, '.repeat(100));
  const databaseAt = async (path: string) => (await findingsOf(['--database', `sqlite:${path}`])).database!;
  assertFinding(await databaseAt(file), 'failed', /Cannot open .*letter\.txt: file is not a/, /--database/);
  const path = join(file, 'data', 'test.db');
  assertFinding(await databaseAt(path), 'failed', /test\.db: \/\S*letter\.txt is not a folder\.$/, /--data/);
  const said = /Cannot open .*test\.db: \/\S*letter\.txt is not a folder\. Correct the path,/;
  assert.throws(() => openSqlite(path, 'production', {}), said);
});

const asUser = { skip: process.getuid?.() === 0 && 'root may write to everything' };

test('reports a folder that this user may not read or write', asUser, async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'data', 'test.db');
  const database = async () => (await findingsOf(['--database', `sqlite:${path}`])).database!;
  chmodSync(folder, 0o500);
  assertFinding(await database(), 'failed', new RegExp(`may not create it in ${folder}\\.$`), /--database/);
  chmodSync(folder, 0);
  assertFinding(await database(), 'failed', new RegExp(`has no access to ${folder}\\.$`), /--database/);
  assert.throws(() => openSqlite(path, 'production', {}), /this user has no access to/);
  chmodSync(folder, 0o700);
});

test('reports that serve will upgrade an older schema, and does not upgrade it', async (t) => {
  const { path, flags } = await newDatabase(t, 'pragma user_version = 0');
  const before = stateOf(path);
  const { schema } = await findingsOf(flags);
  assertFinding(schema!, 'ok', /has schema 0\. serve updates it to schema \d+\.$/);
  assert.deepEqual(stateOf(path), before);
});

test('reports the wrong environment, a newer schema, and a database of another program', async (t) => {
  const { flags } = await newDatabase(t);
  const other = await findingsOf([...flags, '--environment', 'sandbox']);
  const wrong = /^This is a production database, but the environment is sandbox\.$/;
  assertOnly(other, 'environment', 'failed', wrong, /^Pass --environment production, or /);

  const newer = await findingsOf((await newDatabase(t, 'pragma user_version = 999')).flags);
  const known = /schema 999, and this program supports up to \d+/;
  assertOnly(newer, 'schema', 'failed', known, /^Use the newer version of this program\.$/);

  const foreign = await findingsOf((await newDatabase(t, 'pragma application_id = 7')).flags);
  assertFinding(foreign.schema!, 'failed', /belongs to another program\.$/, /another --database/);
  const unknown = ['environment', 'writes', 'nodes', 'instances', 'keys', 'cursor_keys', 'receipts'];
  assert.deepEqual(those(foreign, 'skipped'), unknown);
});

const foreignReceipts: readonly [statement: string, detail: RegExp, remedy: RegExp][] = [
  ['pragma user_version = 999', /schema 999, and this program supports up to \d+/, /^Or restore a backup/],
  [
    `update settings set value = 'sandbox'`,
    /This is a sandbox database, but the environment is production/,
    /backup/,
  ],
  ['pragma application_id = 7', /belongs to another program/, /move it and /],
];

test('reports receipts with which serve refuses to start', async (t) => {
  for (const [statement, detail, remedy] of foreignReceipts) {
    const { path, flags } = await withReceipts(t, statement);
    assertOnly(await findingsOf(flags), 'database', 'failed', detail, remedy);
    assert.throws(() => openSqlite(path, 'production', toServe), /Cannot open the receipts/);
  }
  const { path, receipts, flags } = await withReceipts(t);
  const cannot = /^Cannot open the receipts \/.*test\.db-receipts: /;
  writeFileSync(receipts, 'Dear database, '.repeat(100));
  assertOnly(await findingsOf(flags), 'database', 'failed', cannot, /backup/);
  rmSync(path);
  assertFinding((await findingsOf(flags)).database!, 'failed', cannot, /backup/);
  rmSync(receipts);
  mkdirSync(receipts);
  assertFinding((await findingsOf(flags)).database!, 'failed', cannot, /backup/);
});

test('warns of a file that others can read, unless its folder keeps them out', async (t) => {
  const { path, receipts, flags } = await withReceipts(t);
  chmodSync(path, 0o640);
  assert.equal((await findingsOf(flags)).privileges!.status, 'ok');
  chmodSync(join(path, '..'), 0o755);
  assertOnly(await findingsOf(flags), 'privileges', 'warning', /test\.db \(mode 640/, /chmod 600/);
  chmodSync(path, 0o600);
  chmodSync(receipts, 0o604);
  assertOnly(await findingsOf(flags), 'privileges', 'warning', /test\.db-receipts \(mode 604/, /chmod 600/);
});

test('reports a file that this user may not write or read', asUser, async (t) => {
  const { path, receipts, flags } = await withReceipts(t);
  chmodSync(receipts, 0o400);
  assertOnly(await findingsOf(flags), 'privileges', 'failed', /may not write to \/.*-receipts/, /owner/);
  chmodSync(path, 0o400);
  assertFinding((await findingsOf(flags)).privileges!, 'failed', /may not write to \/.*test\.db/, /owner/);
  chmodSync(path, 0o200);
  assertFinding((await findingsOf(flags)).database!, 'failed', /may not read \/.*test\.db/, /a user with/);
});

test('reports clashing ports, open addresses, and a missing rate limit', async (t) => {
  const { path } = await newDatabase(t);
  const settings = async (...more: string[]) =>
    (await findingsOf(['--database', `sqlite:${path}`, ...more])).settings!;
  const inPublic = ['--public-url', 'https://network.example'];
  const clash = /^--port and --ops-port are both 8080\./;
  for (const hosts of [[], ['--host', 'localhost'], ['--ops-host', '0.0.0.0']]) {
    assertFinding(await settings(...inPublic, ...hosts, '--ops-port', '8080'), 'failed', clash);
  }
  for (const host of ['0.0.0.0', '::', '203.0.114.7']) {
    const open = await settings(...inPublic, '--admin-host', host);
    assertFinding(open, 'warning', /^The administrative service listens on /, /^Set ADMIN_HOST to a private/);
  }
  for (const [flags, url] of [
    [[], 'http://127.0.0.1:8080'],
    [['--public-url', 'http://[::1]:8080'], 'http://[::1]:8080'],
    [['--host', '0.0.0.0', '--environment', 'sandbox'], 'http://0.0.0.0:8080'],
    [['--public-url', 'https://localhost'], 'https://localhost'],
  ] as const) {
    const { status, detail, remedy } = await settings(...flags);
    assert.ok(
      detail.includes(` the image ${url}/assets/brand-placeholder.png, which partners cannot reach.`),
      detail,
    );
    assert.deepEqual([status, remedy?.slice(0, 16)], ['warning', 'Set --public-url']);
  }
  assertFinding(await settings(...inPublic, '--brands-rate', '0'), 'warning', /^List brands has no rate/);
  const fast = await settings(...inPublic, '--brands-rate', '5000');
  assertFinding(fast, 'warning', /^--brands-rate 5000 is above .* specification, 50\.$/, /Remove/);
  assertFinding(
    await settings('--brands-rate', '0', '--ops-port', '8080'),
    'failed',
    /both.*cannot reach.*no rate/,
  );
  const open = await settings(...inPublic, '--ops-host', '0.0.0.0');
  assertFinding(open, 'warning', /^The operations address 0\.0\.0\.0 needs no key/, /firewall/);

  const fine = ['--host', '0.0.0.0', ...inPublic, '--ops-port', '0', '--port', '0'];
  assertFinding(await settings(...fine), 'ok', /valid for production/);
  assertFinding(await settings('--environment', 'sandbox'), 'ok', /valid for sandbox/);
});

test('warns of fewer than 4096 open files', async (t) => {
  const { flags } = await newDatabase(t);
  const few = await findingsOf(flags, undefined, 4_095);
  assertOnly(few, 'open_files', 'warning', /can open 4095 files/, /at least 4096.*ulimit -n/);
  assert.equal((await findingsOf(flags, undefined, 4_096)).open_files!.status, 'ok');
});
