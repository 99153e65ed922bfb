import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { type MetricName, metricCatalogue } from '../../../common/src/observability/catalogue.ts';
import { ownVersion } from '../../../common/src/process.ts';
import { databaseSchema } from '../../../store/src/sqlite/migrate.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { assertFailed, commandLine } from '../../../testkit/fixtures/run.ts';
import { fixtureLine, metricOf, serveSandbox } from '../../../testkit/fixtures/served.ts';
import { placeSqliteOf } from '../../../testkit/releases/releases.ts';
import { needsPromtool, promtool } from '../../../testkit/servers/promtool.ts';

/** Serves the fixture. */
async function serve(t: TestContext, ...flags: string[]) {
  const line = await fixtureLine(t);
  const served = await serveSandbox(t, line.database, flags);
  return { ...served, line, address: `http://127.0.0.1:${served.port}` };
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.text();
  return response.status;
}

test('serves at the announced address, answers probes on the other, and logs start and end', async (t) => {
  const { address, operationsUrl, texts, call, brands, line, port, signal, ended } = await serve(t);
  const database = `the embedded database ${line.databasePath} (schema ${databaseSchema.current})`;
  const place = `${address}/network/v1 from ${database}`;
  assert.ok(texts().stderr.startsWith(`Serving sandbox at ${place}; listening on ${address}, `));
  assert.notEqual(operationsUrl, address);
  assert.equal(await statusOf(`${operationsUrl}/healthz`), 200);
  assert.equal(await statusOf(`${operationsUrl}/readyz`), 200);
  const elsewhere = await fetch(`${operationsUrl}/network/v1/brands`);
  assert.equal(elsewhere.status, 404);
  assert.match(await elsewhere.text(), /"Request \/healthz, \/readyz or \/metrics: /);
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.equal((await call(path)).status, 404);
  const page = await brands('', { key: keys.acme });
  assert.equal(page.status, 200);
  assert.match(page.text, new RegExp(`"${address}/assets/brand-placeholder.png"`));

  for (const [flag, flags] of [
    ['--port', ['--port', String(port), '--ops-port', '0']],
    ['--ops-port', ['--port', '0', '--ops-port', new URL(operationsUrl).port]],
  ] as const) {
    const second = await line.run(['serve', '--environment', 'sandbox', ...flags]);
    assertFailed(second, 1, new RegExp(`is in use.* ${flag}\\.`));
  }

  signal('SIGTERM');
  assert.equal(await ended, 0, 'also with open connections');
  assert.ok(!(texts().stdout + texts().stderr).includes(keys.acme));
  const { version, environment, engine, ...started } = JSON.parse(texts().stdout.split('\n', 1)[0]!);
  assert.deepEqual([version, environment, engine], [ownVersion(), 'sandbox', 'sqlite']);
  assert.deepEqual([started.database, started.schema], [line.databasePath, databaseSchema.current]);
  assert.deepEqual([started.address, started.operations_address], [address, operationsUrl]);
  assert.deepEqual([started.msg, started.workers, started.sends_traces], ['started', 1, false]);
  assert.match(texts().stdout, /"msg":"draining"\}\n.*"level":30,.*"duration_ms":\d+,"msg":"stopped"\}\n$/s);
});

test('the placeholder image has the public address that was set, with any characters', async (t) => {
  const publicUrl = "https://$&$'.example";
  const { brands, texts } = await serve(t, '--public-url', `${publicUrl}/`);
  assert.ok(texts().stderr.startsWith(`Serving sandbox at ${publicUrl}/network/v1 from the embedded `));
  const { text } = await brands('?reference_id=shared', { key: keys.acme });
  assert.equal(JSON.parse(text).brands[0].profile_image_url, `${publicUrl}/assets/brand-placeholder.png`);
});

const alice = '?customer_id=alice&type=CHECKING';

test('serves when Redis is unreachable, warns, and does not print its password', async (t) => {
  const redis = 'redis://user:secret@127.0.0.1:1';
  const { brands, says, texts, signal, ended } = await serve(t, '--redis', redis);
  await says('stdout', /"level":40,.*"reason":"ECONNREFUSED".*Redis does not answer/);
  const { status, headers } = await brands('', { key: keys.acme });
  assert.deepEqual([status, headers.ratelimit], [200, '"brands";r=49;t=1']);
  signal('SIGINT');
  assert.equal(await ended, 0);
  assert.ok(!(texts().stdout + texts().stderr).includes('secret'));
});

test('limits each listing by its own rate, and shows the decisions as metrics', async (t) => {
  const { brands, balances, operationsUrl } = await serve(t, '--balances-rate', '1');
  const policy = (await brands('', { key: keys.acme })).headers['ratelimit-policy'];
  assert.equal(policy, '"brands";q=50;w=1', 'by default');
  for (const status of [200, 429, 429]) {
    assert.equal((await balances(alice, { key: keys.acme })).status, status);
  }
  const response = await fetch(`${operationsUrl}/metrics`);
  const text = await response.text();
  assert.match(String(response.headers.get('content-type')), /^text\/plain; version=0\.0\.4/);
  const decisions = 'partner_network_limiter_decisions_total{operation="balances",source="memory"';
  assert.ok(text.includes(`${decisions},outcome="admitted"} 1\n`), text);
  assert.ok(text.includes(`${decisions},outcome="refused"} 2\n`), text);
  assert.doesNotMatch(text, /acme/);
  assert.ok(text.includes('partner_network_requests_total{operation="listBrands",status="200"} 1\n'), text);
  const undescribed = [...text.matchAll(/^([a-z_]+)\{(.*)\} /gm)].flatMap(([line, name = '', pairs = '']) => {
    const metric = name.replace(/_(bucket|sum|count)$/, '') as MetricName;
    const described = ['le', ...Object.keys(metricCatalogue[metric].labels ?? {})];
    return [...pairs.matchAll(/(\w+)="/g)].every(([, label = '']) => described.includes(label)) ? [] : [line];
  });
  assert.deepEqual(undescribed, []);
  if (needsPromtool.skip === false)
    assert.deepEqual(promtool(['check', 'metrics'], text), { status: 0, said: '' });
  const counted = (read: string) =>
    read.split('\n').filter((each) => /_(requests|decisions)_total/.test(each));
  assert.deepEqual(counted(await (await fetch(`${operationsUrl}/metrics`)).text()), counted(text));
});

test('SIGINT ends it with status 0 without the drain delay, also with open connections', async (t) => {
  const { brands, ended, signal } = await serve(t, '--drain-delay', '3600');
  assert.equal((await brands('', { key: keys.acme })).status, 200);
  signal('SIGINT');
  assert.equal(await ended, 0);
});

test('while it drains it is not ready but answers, and a second signal ends it', async (t) => {
  const { brands, operationsUrl, ended, signal, texts } = await serve(t, '--drain-delay', '3600');
  assert.equal((await brands('', { key: keys.acme })).headers.connection, 'keep-alive');
  signal('SIGTERM');
  while ((await statusOf(`${operationsUrl}/readyz`)) !== 503);
  assert.equal(await statusOf(`${operationsUrl}/healthz`), 200);
  assert.equal(await metricOf(operationsUrl, 'partner_network_ready'), 0);
  // On the open connection, and on a new one.
  for (let times = 0; times < 2; times += 1) {
    const { status, headers } = await brands('', { key: keys.acme });
    assert.deepEqual([status, headers.connection], [200, 'close']);
  }
  assert.match(
    texts().stdout,
    /"level":30,.*"signal":"SIGTERM","drain_delay_seconds":3600,"msg":"draining"\}\n/,
  );
  signal('SIGTERM');
  assert.equal(await ended, 0);
  assert.match(texts().stdout, /"level":40,.*"requests":\d+,"msg":"ended by a second signal: .*receipts/);
  assert.doesNotMatch(texts().stdout, /"msg":"stopped"/);
});

test('creates no database: a missing or an empty file stays, and the error names migrate', async (t) => {
  const line = commandLine(t);
  const serving = ['serve', '--port', '0', '--ops-port', '0'];
  const missing = `The database ${line.databasePath} does not exist. Correct --database and --env`;
  const finished = await line.run(serving);
  assertFailed(finished, 1, /"partner-network migrate" and the same settings\.\n$/);
  assert.ok(finished.stderr.startsWith(missing), finished.stderr);
  assert.deepEqual(readdirSync(line.folder), []);
  writeFileSync(line.databasePath, '');
  assertFailed(await line.run(serving), 1, /has no schema yet: run "partner-network migrate" first/);
  assert.deepEqual(readdirSync(line.folder), ['test.db']);
  assert.equal(readFileSync(line.databasePath, 'utf8'), '');
});

test('upgrades an older embedded database, and says so', async (t) => {
  const { databasePath, database } = commandLine(t);
  placeSqliteOf('0.0.0', databasePath);
  const { texts, says } = await serveSandbox(t, database);
  const { current } = databaseSchema;
  assert.ok(texts().stderr.includes(`${databasePath} (upgraded from schema 1 to ${current}); listening`));
  await says('stdout', new RegExp(`"schema":${current},"upgraded_from_schema":1,.*"msg":"started"`));
});

test('fails with status 1 for an address of another machine, and names the flag', async (t) => {
  const { run } = await fixtureLine(t);
  // 192.0.2.0/24 is reserved for documentation (RFC 5737).
  for (const flag of ['--host', '--ops-host']) {
    const words = ['serve', '--environment', 'sandbox', '--port', '0', '--ops-port', '0'];
    const finished = await run([...words, flag, '192.0.2.1']);
    assertFailed(finished, 1, new RegExp(`no address 192\\.0\\.2\\.1\\. Choose another one with ${flag}\\.`));
  }
});

test('applies a change of a key, a grant or a partner by another process within a second', async (t) => {
  const { line, ...served } = await serve(t, '--brands-rate', '0');
  const brands = (key: string) => () => served.brands('', { key });
  const balances = () => served.balances(`${alice}&grant_id=g-active`, { key: keys.acme });
  const untilStatus = (ask: () => Promise<{ status: number }>, status: number) =>
    until(1_000, async () => (await ask()).status === status);
  const sandbox = ['--environment', 'sandbox'];
  assert.equal((await balances()).status, 200);
  await line.json('grants', 'revoke', 'g-active', ...sandbox);
  await untilStatus(balances, 403);
  await line.json('keys', 'revoke', 'KEY_0', ...sandbox);
  await untilStatus(brands(keys.acme), 401);
  await line.json('partners', 'disable', 'zenith', ...sandbox);
  await untilStatus(brands(keys.zenith), 403);
  await line.json('partners', 'enable', 'zenith', ...sandbox);
  await untilStatus(brands(keys.zenith), 200);
  const policy = async (expected?: string) =>
    until(1_000, async () => (await brands(keys.zenith)()).headers['ratelimit-policy'] === expected);
  await policy();
  await line.json('partners', 'limit', 'zenith', '--brands', '7', ...sandbox);
  await policy('"brands";q=7;w=1');
  await line.json('partners', 'limit', 'zenith', '--brands', 'default', ...sandbox);
  await policy();
});
