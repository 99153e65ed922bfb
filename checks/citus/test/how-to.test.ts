/** Follows the page "Spread over many nodes", block by block, on servers that ask for passwords. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { roleSettings } from '../../../packages/store/src/postgres/distribution/distribute.ts';
import { places } from '../../../packages/store/src/postgres/distribution/tables.ts';
import { temporaryFolder, until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { pluck } from '../../../packages/testkit/fixtures/pluck.ts';
import { type PostgresServer, wholeFile } from '../../../packages/testkit/servers/postgres.ts';
import { onConnection, startPostgres } from '../../../packages/testkit/servers/postgres-start.ts';
import { blocksOf, makeClone, type RunningScript } from '../../../test/documents/clone.ts';
import { createDrill, type IssuedKey, keyIn } from '../../../test/documents/drill.ts';
import { adaptTo } from '../../../test/documents/on-postgres.ts';
import { openPage } from '../../../test/documents/page.ts';
import { pageFor } from '../../../test/sources.ts';

const document = pageFor('operators', 'sharding');
const movingPage = pageFor('operators', 'move-to-postgres');
const blocks = blocksOf(document);
const clone = await makeClone();
const page = openPage(clone, document);
const { call } = createDrill(clone);
const { withPrograms } = adaptTo('postgres://127.0.0.1/unused');

let service: RunningScript | undefined;
async function stopServing(): Promise<void> {
  await service?.stop();
  service = undefined;
}
after(() => stopServing().then(clone.remove));

/** The next block of the page. */
function take(language: 'sh' | 'sql' | 'text'): string {
  const block = blocks.shift();
  assert.equal(block?.language, language, block?.text);
  return block!.text;
}

const settingsIn = (text: string): Record<string, string> =>
  Object.fromEntries(text.split('\n').map((line) => line.replaceAll("'", '').split(' = ')));

/** The blocks for each node. */
const settings = settingsIn(take('text'));
const password = take('sql');
const access = take('text');
const database = take('sql');
const extension = take('sql');

/** The servers by the names that the page gives them. */
const servers = new Map<string, PostgresServer>();
const portOf = (name: string) => servers.get(name)!.port;
const urlOf = (name: string, of = 'network') => adapt(`postgres://postgres@${name}.example/${of}`);
const ownerUrl = () => adapt('postgres://network@coordinator.example/network');

/** Copies of servers and their logs. The user of the servers can write there. */
const folder = temporaryFolder(wholeFile);
chmodSync(folder, 0o777);

/** Replaces names and passwords by those of the servers. */
function adapt(block: string): string {
  return block
    .replaceAll(/'([\w-]+)\.example', 5432/g, (_, name) => `'127.0.0.1', ${portOf(name)}`)
    .replaceAll(/@([\w-]+)\.example/g, (_, name) => `@127.0.0.1:${portOf(name)}`)
    .replaceAll(/\/\/(postgres|network|network_serve)@/g, (_, role) => `//${role}:${passwords[role]}@`)
    .replaceAll('--pgdata=', `--pgdata=${folder}/`);
}
const passwords: Readonly<Record<string, string>> = {
  postgres: 'superuser-secret',
  network: 'owner-secret',
  network_serve: 'serve-secret',
};

/** Starts a server with the settings of the page. Few shards take less time to move. */
async function start(name: string, data?: string, more = {}): Promise<void> {
  const archive = { archive_mode: 'on', archive_command: `cp %p ${folder}/${name}-%f` };
  const ours = { ...archive, listen_addresses: '127.0.0.1', 'citus.shard_count': '4' };
  servers.set(name, await startPostgres(wholeFile, { ...settings, ...ours, ...more }, data));
}

/** Runs statements, by default those of the next block. Resolves to the rows of the last statement. */
async function run(url: string, block = take('sql')): Promise<Record<string, unknown>[]> {
  const statements = adapt(block).split(/;(?:\n|$)/);
  return onConnection(url, async (client) => {
    let rows: Record<string, unknown>[] = [];
    for (const text of statements.filter(Boolean)) rows = (await client.query(text)).rows;
    return rows;
  });
}

async function prepare(name: string): Promise<void> {
  await start(name);
  const server = servers.get(name)!;
  await run(server.url(), password);
  // The last line is for this test, which does not connect through a socket.
  const rules = `${access}\nhost postgres postgres 10.0.0.0/24 scram-sha-256\n`;
  writeFileSync(join(server.folder, 'pg_hba.conf'), rules.replaceAll('10.0.0.0/24', '127.0.0.1/32'));
  await run(server.url(), 'select pg_reload_conf()');
  await run(urlOf(name, 'postgres'), database);
  await run(urlOf(name), extension);
}

const customers = Array.from({ length: 24 }, (_, index) => `CUSTOMER_${index}`);
const balanceOf = { id: 'BAL_1', type: 'CHECKING', currency: 'USD', amount: 1 };
const grantOf = { id: 'GRANT_1', partner_id: 'PARTNER_ACME' };
const importing = (kind: string, record: object) => {
  const lines = customers.map((customer_id) => JSON.stringify({ customer_id, ...record }));
  return `npx partner-network import ${kind} - <<'END'\n${lines.join('\n')}\nEND\n`;
};
let key: IssuedKey;

/** The statuses of the balances of all customers. Every node has some of them. */
async function statuses(): Promise<string> {
  const found = new Set<string>();
  for (const id of customers)
    found.add((await call(key, `balances?customer_id=${id}&type=CHECKING`)).slice(0, 3));
  return [...found].toSorted().join();
}

const readiness = () => clone.run('curl -s http://127.0.0.1:9090/readyz');

test('the nodes are prepared and added, and the roles created', async () => {
  for (const name of ['coordinator', 'node-1', 'node-2']) await prepare(name);
  await run(urlOf('coordinator'));
  await run(urlOf('coordinator'));
  await assert.rejects(run(servers.get('node-1')!.url('network'), 'select'), /password/);
});

test('the tables are distributed, and the role that serves gets the settings on every node', async () => {
  take('sh');
  const shown = await page.next(/^Created the production database \S+ with schema \d+\. /, adapt);
  for (const table of Object.keys(places)) assert.ok(shown.includes(table), table);
  take('sh');
  await page.next(/COMMIT\n$/, (block) => withPrograms(adapt(block)));
  await run(urlOf('coordinator'));
  const expected = Object.entries(roleSettings).map((setting) => setting.join('='));
  const ofRole = `select unnest(setconfig) as setting from pg_db_role_setting
    where setrole = 'network_serve'::regrole`;
  for (const name of servers.keys())
    assert.deepEqual(pluck(await run(urlOf(name), ofRole), 'setting'), expected, name);
});

test('an existing database is moved there and served', async () => {
  const made = await clone.run(`
npx partner-network migrate
npx partner-network partners create --name Acme --id PARTNER_ACME
${importing('balances', balanceOf)}${importing('grants', grantOf)}
npx partner-network keys create --partner PARTNER_ACME --scope BALANCES_READ --scope BRANDS_READ`);
  key = keyIn(made);
  const moving = openPage(clone, movingPage);
  const already = `export DATABASE_URL=${ownerUrl()}\nnpx partner-network migrate`;
  await moving.next(/ already has the current schema/, () => already);
  await moving.next(/^$/);
  await moving.next(/^1 partner and 1 key created, .*\n(0 read, .*\n){2}(24 read, 24 written, .*\n){2}$/);
  take('sh');
  service = await page.serve(adapt);
  assert.equal(await statuses(), '200');
  assert.equal(await readiness(), 'ready\n');
});

test('a node is added, and shards are moved to it while the service runs', async () => {
  await prepare('node-3');
  await run(urlOf('coordinator'));
  const status = take('sql');
  await until(120_000, async () => (await run(urlOf('coordinator'), status))[0]!.state === 'finished');
  const shards = `select count(*) > 0 as moved from citus_shards where nodeport = ${portOf('node-3')}`;
  assert.deepEqual(await run(urlOf('coordinator'), shards), [{ moved: true }]);
  assert.equal(await statuses(), '200');
});

test('a lost node is named, and replaced by its standby', async () => {
  take('sh');
  await page.next(/^$/, (block) => withPrograms(adapt(block)));
  await start('node-2b', join(folder, 'node-2b'));
  await servers.get('node-2')!.kill();
  assert.equal(await statuses(), '200,503');
  assert.match(await readiness(), new RegExp(`^ready\n.*:${portOf('node-2')} does not answer`));
  await run(urlOf('node-2b'), 'select pg_promote()');
  await run(urlOf('coordinator'));
  await until(20_000, async () => (await statuses()) === '200');
});

test('all nodes are restored to one moment', async () => {
  const nodes = ['coordinator', 'node-1', 'node-2b', 'node-3'];
  const copying = nodes.map(
    (name) => `pg_basebackup --dbname=${urlOf(name, '')} --pgdata=${folder}/of-${name} --checkpoint=fast`,
  );
  await clone.run(withPrograms(copying.join('\n')));
  const create = (id: string) =>
    clone.run(`npx partner-network partners create --name New --id ${id} --database ${ownerUrl()}`);
  await create('PARTNER_BEFORE');
  await run(urlOf('coordinator'));
  await create('PARTNER_AFTER');
  await stopServing();
  const recovery = settingsIn(take('text'));
  for (const name of nodes) {
    await run(urlOf(name), 'select pg_switch_wal()');
    await servers.get(name)!.stop();
  }
  for (const name of nodes) {
    const old = portOf(name);
    writeFileSync(join(folder, `of-${name}`, 'recovery.signal'), '');
    const restore = { ...recovery, restore_command: `cp ${folder}/${name}-%f %p` };
    await start(name, join(folder, `of-${name}`), restore);
    const query = 'select pg_is_in_recovery() as recovers';
    await until(20_000, async () => !(await run(urlOf(name), query))[0]!.recovers);
    const update = `select citus_update_node(nodeid, '127.0.0.1', ${portOf(name)})
      from pg_dist_node where nodeport = ${old}`;
    await run(urlOf('coordinator'), update);
  }
  const partners = await clone.run(`npx partner-network partners list --database ${ownerUrl()}`);
  assert.match(partners, /PARTNER_BEFORE/);
  assert.doesNotMatch(partners, /PARTNER_AFTER/);
  const balances = await clone.run(`npx partner-network export balances --database ${ownerUrl()}`);
  assert.equal(balances.trim().split('\n').length, customers.length);
});

test('the bytes of a row are shown, and no block is left', async () => {
  const [{ bytes } = {}] = await run(urlOf('coordinator'));
  assert.ok(Number(bytes) > 100);
  assert.deepEqual(blocks, []);
  page.end();
});
