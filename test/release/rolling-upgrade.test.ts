/**
 * A rolling upgrade on Postgres: instances of the last release and of this version serve one database. The
 * old program is the package of the release. `npm run check -- rolling --upgrade` does the same under load.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { browserAt } from '../../packages/operator/test/console/scene.ts';
import { apiKeyOf } from '../../packages/service/src/auth.ts';
import { parseDatabaseUrl, toUpdate } from '../../packages/store/src/address.ts';
import { openStore } from '../../packages/store/src/engines.ts';
import { migrate, migrations, requireCurrent } from '../../packages/store/src/postgres/migrate.ts';
import { adminKeys, createAdminKeys, startAdmin } from '../../packages/testkit/admin/started.ts';
import { byTest, createdAt } from '../../packages/testkit/fixtures/fixture.ts';
import { killAfter, longRunOnly, until } from '../../packages/testkit/fixtures/lifetime.ts';
import { assertFailed, run, spawnCommand } from '../../packages/testkit/fixtures/run.ts';
import { type ServedSandbox, serveSandbox } from '../../packages/testkit/fixtures/served.ts';
import {
  loadPostgresOf,
  newestPackage,
  placePackage,
  schemaOf,
} from '../../packages/testkit/releases/releases.ts';
import { connectTo, emptyDatabase } from '../../packages/testkit/servers/postgres.ts';
import { needsRedis, redisUrl } from '../../packages/testkit/servers/redis.ts';
import { keepKey, keepSecret } from '../../packages/testkit/watch/logs.ts';

const kept = newestPackage();
const needsPackage = {
  skip: kept === undefined && 'test/releases/ has no package yet: npm run release:keep',
};

const key = apiKeyOf('sandbox', 'oldAcme'.padEnd(43, '0'));
keepKey(key);
keepSecret('customer', 'old-alice');

/** The same for all instances, so that their pages have the same bytes. No walk reaches the rate. */
const alike = ['--public-url', 'https://network.example', '--brands-rate', '1000'];

const flagsOfServe = ['--port', '0', '--ops-port', '0', '--environment', 'sandbox'];
const serving = (url: string) => ['serve', ...flagsOfServe, '--database', url];

/** A database that the last release made, and an instance of that release that serves it. */
async function startLastRelease(t: TestContext, flags = alike) {
  const { release, file } = kept!;
  const url = await emptyDatabase(t);
  await loadPostgresOf(release, url);
  const program = placePackage(t, file);
  const old = await serveSandbox(t, url, flags, { program });
  await old.says('stdout', new RegExp(`"version":"${release}",.*"msg":"started"`));
  const client = await connectTo(t, url);
  return { url, client, program, old, release };
}

type Old = Awaited<ReturnType<typeof startLastRelease>>;

/** A feed of the last release. The function that is returned sends a brand. */
function startFeed(t: TestContext, { url, program }: Old): (id: string) => void {
  const words = ['import', 'brands', '-', '--follow', '--partner', 'old-acme'];
  const feed = spawnCommand([...words, '--database', url, '--environment', 'sandbox'], { program });
  void killAfter(t, feed);
  return (id) => void feed.stdin.write(`${JSON.stringify({ id, name: id, reference_id: 'feed' })}\n`);
}

/** The texts of all pages. The instances take turns, so every cursor crosses from one to the next. */
async function walk(...instances: readonly ServedSandbox[]): Promise<string[]> {
  const records: string[] = [];
  let query = '?limit=20';
  for (let page = 0; ; page += 1) {
    const { status, text } = await instances[page % instances.length]!.brands(query, { key });
    assert.equal(status, 200, text);
    const { brands, cursor } = JSON.parse(text);
    records.push(...brands.map((brand: object) => JSON.stringify(brand)));
    if (cursor === undefined) return records;
    query = `?limit=20&cursor=${cursor}`;
  }
}

const readBalances = (instance: ServedSandbox, grant: string, as = key) =>
  instance.balances(`?customer_id=old-alice&type=CHECKING&grant_id=${grant}`, { key: as });

/** Brands, balances, grants and receipts are right. */
async function assertServes({ client }: Old, instance: ServedSandbox, brands: readonly string[]) {
  assert.deepEqual(await walk(instance), brands);
  const { status, text, headers } = await readBalances(instance, 'active');
  assert.equal(status, 200, text);
  assert.equal(JSON.parse(text).balances.length, 3);
  assert.match((await readBalances(instance, 'consumed')).text, /GRANT_CONSUMED/);
  await until(20_000, async () => {
    const { rowCount } = await client.query('select from receipts where request_id = $1', [
      headers['x-request-id'],
    ]);
    return rowCount === 1;
  });
}

/** A person can sign in. Sessions of 0.2.0 have another key, so they do not open at the other version. */
async function assertSessionHolds(address: string): Promise<void> {
  const browser = browserAt(address);
  await browser.signIn(adminKeys.VIEWER);
  keepSecret('key', browser.cookie.split('=')[1]!);
  assert.equal((await browser.get('/console/partners/old-acme')).status, 200);
}

/** A hundred requests to one instance leave less of the rate on the other. */
async function assertSharedRate(one: ServedSandbox, other: ServedSandbox): Promise<void> {
  const left = async (instance: ServedSandbox) => {
    const { headers } = await instance.brands('?limit=1', { key });
    return Number(/;r=(\d+)/.exec(String(headers.ratelimit))?.[1]);
  };
  // Again if a busy machine took more than a second for them.
  await until(20_000, async () => {
    await Promise.all(Array.from({ length: 100 }, () => left(one)));
    return (await left(other)) < 950;
  });
}

test('instances of the last release and of this version serve one database', needsPackage, async (t) => {
  const flags = needsRedis.skip ? alike : [...alike, '--redis', await redisUrl(t)];
  const scene = await startLastRelease(t, flags);
  const { url, old, release } = scene;
  assert.equal((await walk(old)).length, 124);
  const listed = async (instance: ServedSandbox, id: string) =>
    (await instance.brands('?reference_id=feed', { key })).text.includes(`"id":"${id}"`);
  const quiet = ['--log-level', 'error'];
  const oldAdmin = await startAdmin(t, url, quiet, { program: scene.program });
  const send = startFeed(t, scene);
  send('before');
  await until(30_000, () => listed(old, 'before'));
  if (schemaOf(release, 'postgres') < migrations.current) {
    assertFailed(await run(serving(url)), 1, /run "partner-network migrate" first/);
  }
  const store = await openStore(parseDatabaseUrl(url)!, 'sandbox', toUpdate);
  t.after(() => store.close());
  send('after');
  const next = await serveSandbox(t, url, flags);
  for (const instance of [old, next]) await until(30_000, () => listed(instance, 'after'));
  // The administrative services of both versions write what both serve.
  await createAdminKeys(store);
  const admin = await startAdmin(t, url, quiet);
  for (const [id, service] of Object.entries({ 'old-batch': oldAdmin, batch: admin })) {
    const sent = { partner_id: 'old-acme', id, name: 'Batch', reference_id: 'feed', updated_at: createdAt };
    assert.equal((await service.send('brands', JSON.stringify(sent))).status, 200);
    for (const instance of [old, next]) await until(30_000, () => listed(instance, id));
  }
  for (const { address } of [oldAdmin, admin]) await assertSessionHolds(address);
  const all = await walk(old);
  assert.equal(all.length, 128);
  for (const instance of [old, next]) await assertServes(scene, instance, all);
  assert.deepEqual(await walk(old, next), all);
  assert.deepEqual(await walk(next, old), all);

  if (!needsRedis.skip) {
    await assertSharedRate(old, next);
    await assertSharedRate(next, old);
  }

  // Other tests measure how soon a revocation takes effect.
  const now = () => new Date().toISOString();
  assert.ok(await store.revokeGrant('old-alice', 'active', now(), byTest));
  assert.ok(await store.revokeKey('KEY_oldBrands', now(), byTest));
  const revoked = apiKeyOf('sandbox', 'oldBrands'.padEnd(43, '0'));
  for (const instance of [old, next]) {
    await until(20_000, async () => /GRANT_REVOKED/.test((await readBalances(instance, 'active')).text));
    await until(20_000, async () =>
      /API_KEY_REVOKED/.test((await instance.brands('', { key: revoked })).text),
    );
  }
});

test('a migration that adds does no harm, and a migration that removes is noticed', {
  ...needsPackage,
  skip: longRunOnly || needsPackage.skip,
}, async (t) => {
  const scene = await startLastRelease(t);
  const { url, client, program, old } = scene;
  const brands = await walk(old);
  /** The migrations of this version, and more. */
  const followedBy = (...texts: string[]) => ({
    scripts: [...migrations.scripts, ...texts.map((text) => () => text)],
    current: migrations.current + texts.length,
  });
  const additive = `
    alter table brands add column country text collate "C";
    alter table receipts add column country text;
    create table later_records (id text primary key);`;
  await assert.rejects(
    requireCurrent(client, 'sandbox', followedBy(additive)),
    /run "partner-network migrate" first/,
  );
  await migrate(client, 'sandbox', followedBy(additive));
  await assertServes(scene, old, brands);
  const { current } = followedBy(additive);
  assertFailed(
    await run(serving(url), { program }),
    1,
    new RegExp(
      `^The database has schema ${current}, and this program supports up to \\d+: use the newer version`,
    ),
  );
  await migrate(client, 'sandbox', followedBy(additive, 'alter table brands drop column record'));
  await assert.rejects(assertServes(scene, old, brands), { name: 'AssertionError' });
});
