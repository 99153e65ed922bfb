import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { fillFixture, keys } from '../../../testkit/fixtures/fixture.ts';
import { createCaller } from '../../../testkit/fixtures/http.ts';
import {
  assertFailed,
  type CommandLine,
  commandLine,
  type Running,
  start,
} from '../../../testkit/fixtures/run.ts';
import { needsPromtool, promtool } from '../../../testkit/servers/promtool.ts';
import { ownVersion } from '../../src/lib/version.ts';

interface Served extends Running {
  readonly line: CommandLine;
  readonly publicUrl: string;
  readonly address: string;
  readonly operationsUrl: string;
}

const anyPorts = ['--port', '0', '--ops-port', '0'];
const limits = { timeout: 30_000 };

async function serve(t: TestContext, words: string[] = ['--drain-delay', '0']): Promise<Served> {
  const line = commandLine(t);
  await line.inside(fillFixture, 'sandbox');
  const flags = ['--database', line.database, '--environment', 'sandbox', ...anyPorts];
  const running = start(t, ['serve', ...flags, ...words]);
  const said = /^Serving sandbox at (\S+)\/network\/v1; listening on (\S+), operations on (\S+)\.$/m;
  const [, publicUrl = '', address = '', operationsUrl = ''] = await running.says('stderr', said);
  return { ...running, line, publicUrl, address, operationsUrl };
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.text();
  return response.status;
}

function callerOf(t: TestContext, url: string) {
  const caller = createCaller(Number(new URL(url).port));
  t.after(() => caller.disconnect());
  return caller;
}

test('serves at the announced address, and answers probes on the operations address', limits, async (t) => {
  const { publicUrl, operationsUrl, texts } = await serve(t);
  assert.match(publicUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.notEqual(operationsUrl, publicUrl);
  assert.equal(await statusOf(`${operationsUrl}/healthz`), 200);
  assert.equal(await statusOf(`${operationsUrl}/readyz`), 200);
  const elsewhere = await fetch(`${operationsUrl}/network/v1/brands`);
  assert.equal(elsewhere.status, 404);
  assert.match(await elsewhere.text(), /"Ask for \/healthz, \/readyz or \/metrics: /);
  const caller = callerOf(t, publicUrl);
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.equal((await caller.call(path)).status, 404);
  const page = await caller.brands('', { key: keys.acme });
  assert.equal(page.status, 200);
  assert.match(page.text, new RegExp(`"${publicUrl}/assets/brand-placeholder.png"`));
  assert.ok(!(texts().stdout + texts().stderr).includes(keys.acme));
});

test('the placeholder image has the public address that was set, with any characters', limits, async (t) => {
  const publicUrl = "https://network.example/$&/$'";
  const served = await serve(t, ['--public-url', `${publicUrl}/`]);
  assert.equal(served.publicUrl, publicUrl);
  const { text } = await callerOf(t, served.address).brands('?reference_id=shared', { key: keys.acme });
  assert.equal(JSON.parse(text).brands[0].profile_image_url, `${publicUrl}/assets/brand-placeholder.png`);
});

test('limits each listing by its own rate, brands by 50 by default', limits, async (t) => {
  const { address } = await serve(t, ['--balances-rate', '1']);
  const caller = callerOf(t, address);
  const policy = (await caller.brands('', { key: keys.acme })).headers['ratelimit-policy'];
  assert.equal(policy, '"brands";q=50;w=1');
  const query = '?customer_id=alice&type=CHECKING';
  assert.equal((await caller.balances(query, { key: keys.acme })).status, 200);
  assert.equal((await caller.balances(query, { key: keys.acme })).status, 429);
});

test('serves when Redis is unreachable, warns, and does not print its password', limits, async (t) => {
  const redis = ['--redis', 'redis://user:secret@127.0.0.1:1'];
  const { address, says, texts, signal, ended } = await serve(t, redis);
  await says('stdout', /"level":40,.*"reason":"ECONNREFUSED".*Redis does not answer/);
  const { status, headers } = await callerOf(t, address).brands('', { key: keys.acme });
  assert.deepEqual([status, headers.ratelimit], [200, '"brands";r=49;t=1']);
  signal('SIGINT');
  assert.equal(await ended, 0);
  assert.ok(!(texts().stdout + texts().stderr).includes('secret'));
});

test('shows the decisions of the rate limit as metrics, without partners', limits, async (t) => {
  const { address, operationsUrl } = await serve(t, ['--brands-rate', '1']);
  const caller = callerOf(t, address);
  for (const status of [200, 429, 429]) {
    assert.equal((await caller.brands('', { key: keys.acme })).status, status);
  }
  const response = await fetch(`${operationsUrl}/metrics`);
  const text = await response.text();
  assert.match(String(response.headers.get('content-type')), /^text\/plain; version=0\.0\.4/);
  const decisions = 'partner_network_limiter_decisions_total{operation="brands",source="memory"';
  assert.ok(text.includes(`${decisions},outcome="admitted"} 1\n`), text);
  assert.ok(text.includes(`${decisions},outcome="refused"} 2\n`), text);
  assert.doesNotMatch(text, /acme/);
  assert.ok(text.includes('partner_network_requests_total{operation="listBrands",status="200"} 1\n'), text);
  if (needsPromtool.skip === false)
    assert.deepEqual(promtool(['check', 'metrics'], text), { status: 0, said: '' });
  const counted = (read: string) =>
    read.split('\n').filter((each) => /_(requests|decisions)_total/.test(each));
  assert.deepEqual(counted(await (await fetch(`${operationsUrl}/metrics`)).text()), counted(text));
});

test('limits nothing where the rates are 0', limits, async (t) => {
  const { address } = await serve(t, ['--brands-rate', '0']);
  const caller = callerOf(t, address);
  const query = '?customer_id=alice&type=CHECKING';
  for (const { status, headers } of [
    await caller.brands('', { key: keys.acme }),
    await caller.balances(query, { key: keys.acme }),
  ]) {
    assert.deepEqual([status, headers.ratelimit], [200, undefined]);
  }
});

test('a cursor survives a restart', limits, async (t) => {
  const first = await serve(t);
  const page = await callerOf(t, first.address).brands('?limit=1', { key: keys.acme });
  first.signal('SIGINT');
  assert.equal(await first.ended, 0);

  const flags = ['--database', first.line.database, '--environment', 'sandbox', ...anyPorts];
  const second = start(t, ['serve', ...flags]);
  const [, address = ''] = await second.says('stderr', /listening on (\S+),/);
  const { cursor } = JSON.parse(page.text);
  const next = await callerOf(t, address).brands(`?limit=1&cursor=${cursor}`, { key: keys.acme });
  assert.equal(JSON.parse(next.text).brands[0].id, 'b2');
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`ends with status 0 on ${signal}, also with connections open`, limits, async (t) => {
    const { publicUrl, ended, signal: send } = await serve(t);
    assert.equal((await callerOf(t, publicUrl).brands('', { key: keys.acme })).status, 200);
    send(signal);
    assert.equal(await ended, 0);
  });
}

test('does not wait for the drain delay on SIGINT', limits, async (t) => {
  const { ended, signal } = await serve(t, ['--drain-delay', '3600']);
  signal('SIGINT');
  assert.equal(await ended, 0);
});

test('while it drains it is not ready but answers, and a second signal ends it', limits, async (t) => {
  const { publicUrl, operationsUrl, ended, signal, texts } = await serve(t, ['--drain-delay', '3600']);
  const caller = callerOf(t, publicUrl);
  assert.equal((await caller.brands('', { key: keys.acme })).headers.connection, 'keep-alive');
  signal('SIGTERM');
  while ((await statusOf(`${operationsUrl}/readyz`)) !== 503);
  assert.equal(await statusOf(`${operationsUrl}/healthz`), 200);
  // On the open connection, and on a new one.
  for (let times = 0; times < 2; times += 1) {
    const { status, headers } = await caller.brands('', { key: keys.acme });
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

test('logs what has started and when it has stopped, and nothing after that', limits, async (t) => {
  const { ended, signal, texts, publicUrl, operationsUrl } = await serve(t);
  signal('SIGTERM');
  assert.equal(await ended, 0);
  const { version, environment, engine, ...started } = JSON.parse(texts().stdout.split('\n', 1)[0]!);
  assert.deepEqual([version, environment, engine], [ownVersion(), 'sandbox', 'sqlite']);
  assert.deepEqual([started.address, started.operations_address], [publicUrl, operationsUrl]);
  assert.deepEqual([started.msg, started.workers, started.sends_traces], ['started', 1, false]);
  assert.match(texts().stdout, /"msg":"draining"\}\n.*"level":30,.*"duration_ms":\d+,"msg":"stopped"\}\n$/s);
});

test('migrates a new database before it serves', limits, async (t) => {
  const line = commandLine(t);
  const { says, ended, signal } = start(t, ['serve', '--database', line.database, ...anyPorts]);
  await says('stderr', /^Serving production at /m);
  assert.equal((await line.json<{ from: number }>('migrate')).from > 0, true);
  signal('SIGINT');
  assert.equal(await ended, 0);
});

test('fails with status 1 when an address is taken, and names the flag', limits, async (t) => {
  const { line, publicUrl, operationsUrl } = await serve(t);
  const sandbox = ['serve', '--environment', 'sandbox'];
  const taken = [
    ['--port', new URL(publicUrl).port, '--ops-port', '0'],
    ['--port', '0', '--ops-port', new URL(operationsUrl).port],
  ];
  for (const flags of taken) {
    const flag = flags[1] === '0' ? '--ops-port' : '--port';
    assertFailed(await line.run([...sandbox, ...flags]), 1, new RegExp(`is taken.* ${flag}\\.`));
  }
});

/** Sends requests until the response has this status, for at most a second. */
async function assertWithinASecond(ask: () => Promise<{ status: number }>, status: number): Promise<void> {
  const deadline = Date.now() + 1_000;
  let found = 0;
  do {
    found = (await ask()).status;
  } while (found !== status && Date.now() < deadline);
  assert.equal(found, status);
}

test(
  'applies a change of a key, a grant or a partner by another process within a second',
  limits,
  async (t) => {
    const { line, publicUrl } = await serve(t, ['--brands-rate', '0']);
    const caller = callerOf(t, publicUrl);
    const brands = (key: string) => () => caller.brands('', { key });
    const balances = () =>
      caller.balances('?customer_id=alice&type=CHECKING&grant_id=g-active', { key: keys.acme });
    const sandbox = ['--environment', 'sandbox'];
    assert.equal((await balances()).status, 200);
    await line.json('grants', 'revoke', 'g-active', ...sandbox);
    await assertWithinASecond(balances, 403);
    await line.json('keys', 'revoke', 'KEY_0', ...sandbox);
    await assertWithinASecond(brands(keys.acme), 401);
    await line.json('partners', 'disable', 'zenith', ...sandbox);
    await assertWithinASecond(brands(keys.zenith), 403);
    await line.json('partners', 'enable', 'zenith', ...sandbox);
    await assertWithinASecond(brands(keys.zenith), 200);
  },
);
