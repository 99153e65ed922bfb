/** `migrate --distribute` on a cluster: what it distributes, and what it refuses. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { roleSettings } from '../../../packages/store/src/postgres/distribution/distribute.ts';
import { onCoordinator, places } from '../../../packages/store/src/postgres/distribution/tables.ts';
import { type CitusCluster, startCluster } from '../../../packages/testkit/citus/cluster.ts';
import { assertFailed, run } from '../../../packages/testkit/fixtures/run.ts';
import { connectTo, wholeFile } from '../../../packages/testkit/servers/postgres.ts';
import { onConnection, onEachNode, withDatabase } from '../../../packages/testkit/servers/postgres-start.ts';

let started: Promise<CitusCluster> | undefined;

/** One cluster for all tests of this file, with the ordinary roles `owner` and `stranger`. */
function cluster(): Promise<CitusCluster> {
  started ??= startCluster(wholeFile).then(async (opened) => {
    await onEachNode(opened.nodes, 'create role owner login', 'create role stranger login');
    return opened;
  });
  return started;
}

const newName = () => `test_${randomBytes(6).toString('hex')}`;

/** A database with Citus and its nodes, and its address for each role. */
async function newDatabase() {
  const { createDatabase } = await cluster();
  const name = newName();
  const superuser = await createDatabase(name);
  await onConnection(superuser, async (client) => {
    await client.query(`alter database ${name} owner to owner`);
    await client.query('grant create on schema public to owner');
  });
  const as = (role: string) => superuser.replace('//postgres@', `//${role}@`);
  return { superuser, owner: as('owner'), stranger: as('stranger'), name };
}

const command = (url: string, ...words: string[]) =>
  run([...words, '--environment', 'sandbox', '--database', url]);

async function succeed(url: string, ...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await command(url, ...words);
  assert.deepEqual([status, stderr], [0, '']);
  return stdout;
}

async function rowsOf(t: TestContext, url: string, text: string): Promise<Record<string, unknown>[]> {
  return (await (await connectTo(t, url)).query(text)).rows;
}

test('the owner of an empty database distributes it with one command, and can repeat that', async (t) => {
  const { owner, superuser } = await newDatabase();
  const distributed = Object.keys(places);
  const first = JSON.parse(await succeed(owner, 'migrate', '--distribute', '--json'));
  assert.deepEqual(first, { environment: 'sandbox', from: 0, to: first.to, distributed });
  const again = JSON.parse(await succeed(owner, 'migrate', '--distribute', '--json'));
  assert.deepEqual(again, { ...first, from: first.to });
  assert.match(await succeed(owner, 'migrate'), /already has the current schema/);

  const tables = await rowsOf(
    t,
    superuser,
    `select table_name::text as name, citus_table_type as type, distribution_column as by, shard_count
    from citus_tables order by 1`,
  );
  const expected = distributed.map((name) => {
    const place = places[name]!;
    return place === 'every node'
      ? { name, type: 'reference', by: '<none>', shard_count: '1' }
      : { name, type: 'distributed', by: place.by, shard_count: '32' };
  });
  // The table of keys is known to Citus because it refers to partners, and its rows stay on the coordinator.
  expected.push({ name: 'api_keys', type: 'local', by: '<none>', shard_count: '1' });
  assert.deepEqual(
    tables.map((row) => ({ ...row, shard_count: String(row.shard_count) })),
    expected.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  );
});

test('cursor keys, audit entries, settings and key uses exist on the coordinator only', async () => {
  const { owner, name } = await newDatabase();
  await succeed(owner, 'migrate', '--distribute');
  for (const [index, node] of (await cluster()).nodes.entries()) {
    const { rows } = await onConnection(withDatabase(node, name), (client) =>
      client.query(
        `select name from unnest($1::text[]) as name
        where to_regclass(name) is not null and not exists (
          select from pg_dist_partition where logicalrelid = to_regclass(name)
        ) order by name`,
        [onCoordinator],
      ),
    );
    const found = rows.map((row) => row.name);
    assert.deepEqual(found, index === 0 ? onCoordinator.filter((table) => table !== 'api_keys') : []);
  }
});

test("the role's settings reach every node", async (t) => {
  const { owner } = await newDatabase();
  await succeed(owner, 'migrate', '--distribute');
  const names = Object.keys(roleSettings);
  const wanted = Object.values(roleSettings);
  const read = `select string_agg(current_setting(name), ',' order by place)
    from unnest('{${names}}'::text[]) with ordinality as named (name, place)`;
  const found = await rowsOf(t, owner, `select distinct result from run_command_on_all_nodes($$${read}$$)`);
  assert.deepEqual(found, [{ result: wanted.join() }]);
});

test('partners from before stay, and no copy of them is left on the disk of the coordinator', async (t) => {
  const { owner } = await newDatabase();
  const { stderr } = await command(owner, 'migrate');
  assert.match(stderr, /^Citus is installed here, but not distributed: partners, brands, .*--distribute/);
  await succeed(owner, 'partners', 'create', '--name', 'Acme', '--id', 'acme');
  await succeed(owner, 'keys', 'create', '--partner', 'acme', '--scope', 'BRANDS_READ');
  await succeed(owner, 'migrate', '--distribute');
  assert.match(await succeed(owner, 'keys', 'list'), /acme/);
  assert.deepEqual(await rowsOf(t, owner, `select pg_relation_size('partners')::integer as bytes`), [
    { bytes: 0 },
  ]);
});

test('ten commands at once distribute it once', async () => {
  const { owner } = await newDatabase();
  const all = await Promise.all(Array.from({ length: 10 }, () => command(owner, 'migrate', '--distribute')));
  assert.deepEqual(
    all.map(({ status, stderr }) => [status, stderr]),
    all.map(() => [0, '']),
  );
});

test('a database that cannot be distributed gets one sentence, and nothing is changed', async (t) => {
  const { nodes } = await cluster();
  const refused = async (url: string, sentence: RegExp) => {
    const count = `select count(*)::integer as tables from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'`;
    const before = await rowsOf(t, url, count);
    assertFailed(await command(url, 'migrate', '--distribute'), 1, sentence);
    assert.deepEqual(await rowsOf(t, url, count), before);
  };
  const name = newName();
  await onEachNode(nodes, `create database ${name}`);
  const bare = withDatabase(nodes[0]!, name);
  const worker = new URL(nodes[1]!);
  await refused(bare, /^Nothing was changed: this database has no Citus\. .* create extension citus;/);
  await onEachNode(
    nodes.map((node) => withDatabase(node, name)),
    'create extension citus',
  );
  await refused(bare, /^Nothing was changed: this database has no nodes\. .* citus_add_node/);
  await rowsOf(t, bare, `select citus_add_node('${worker.hostname}', ${worker.port})`);
  await refused(bare, /^Nothing was changed: .* coordinator\. .* citus_set_coordinator_host/);

  const filled = await newDatabase();
  await command(filled.owner, 'migrate');
  await rowsOf(
    t,
    filled.owner,
    `insert into erased_customers values ('c1', now());
    insert into deleted_brands values ('acme', 'b1', now(), now())`,
  );
  await refused(filled.owner, /^Nothing was changed: there are rows in deleted_brands, erased_customers\. /);
  await rowsOf(t, filled.owner, 'truncate erased_customers, deleted_brands');
  await rowsOf(t, filled.owner, `select create_reference_table('cursor_keys')`);
  await refused(filled.owner, /^Nothing was changed: Citus keeps cursor_keys in another way\. /);

  const foreign = await newDatabase();
  await command(foreign.owner, 'migrate');
  await rowsOf(t, foreign.owner, 'grant all on all tables in schema public to stranger');
  await refused(foreign.stranger, /^The tables were not distributed: .*owner.*\. Use the role that owns/);
});

test('a node that is down leaves nothing half distributed', async (t) => {
  const { owner } = await newDatabase();
  const { workers } = await cluster();
  await command(owner, 'migrate');
  await workers[1]!.stop();
  t.after(() => workers[1]!.start());
  const port = String(workers[1]!.port);
  assertFailed(await command(owner, 'migrate', '--distribute'), 1, new RegExp(`not distributed: .*${port}`));
  assert.deepEqual(await rowsOf(t, owner, 'select logicalrelid from pg_dist_partition'), []);
});

test('replicas are refused, because the logs of nodes cannot be compared', async () => {
  const { owner } = await newDatabase();
  await succeed(owner, 'migrate', '--distribute');
  const words = ['serve', '--port', '0', '--ops-port', '0', '--replica', owner];
  assertFailed(await command(owner, ...words), 1, /^Replicas cannot be read on a database with Citus/);
});
