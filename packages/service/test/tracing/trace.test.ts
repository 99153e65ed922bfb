import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../../../store/src/port.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { type SentSpan, startCollector } from '../../../testkit/servers/collector.ts';
import { needsRedis, redisUrl } from '../../../testkit/servers/redis.ts';
import { fixtureDatabase, openServing } from '../../../testkit/service/database.ts';
import { recorded } from '../../../testkit/watch/recorded-span.ts';
import { digestOfKey } from '../../src/auth.ts';
import { startTracedService } from './traced-service.ts';

const kinds = { internal: 1, server: 2, client: 3 };

/** Checks one trace: all steps are children of the request's span, and within its time. */
function assertTree(spans: readonly SentSpan[], names: readonly string[]): void {
  assert.deepEqual(pluck(spans, 'name'), names);
  const [request, ...steps] = spans;
  assert.deepEqual([request!.kind, request!.parentSpanId], [kinds.server, undefined]);
  for (const step of steps) {
    assert.equal(step.parentSpanId, request!.spanId);
    assert.ok(step.startTimeUnixNano >= request!.startTimeUnixNano, step.name);
    assert.ok(step.endTimeUnixNano >= step.startTimeUnixNano, step.name);
    assert.ok(step.endTimeUnixNano <= request!.endTimeUnixNano, step.name);
  }
}

test('a trace covers a request through http, limiter and store, and the log line has its id', async (t) => {
  const collector = await startCollector(t);
  const service = await startTracedService(t, collector.url);
  const { headers } = await service.brands('?limit=1', { key: keys.acme });
  await service.send();

  const requestId = headers['x-request-id'];
  const spans = collector.traceOf(requestId);
  assertTree(spans, ['GET /network/v1/brands', 'store findKey', 'limiter admit', 'store listBrands']);
  assert.equal(collector.spans().length, 4);
  const [request, findKey, admit, listBrands] = spans;
  assert.deepEqual(request!.attributes, {
    'http.request.method': 'GET',
    'http.route': '/network/v1/brands',
    'url.path': '/network/v1/brands',
    'url.scheme': 'http',
    'http.response.status_code': 200,
    'partner_network.request_id': requestId,
    'partner_network.operation': 'listBrands',
    'partner_network.partner_id': 'acme',
  });
  assert.equal(findKey!.kind, kinds.client);
  assert.deepEqual(findKey!.attributes, { 'db.system.name': 'sqlite', 'db.operation.name': 'findKey' });
  assert.deepEqual(admit!.attributes, {
    'partner_network.limiter.outcome': 'admitted',
    'partner_network.limiter.source': 'memory',
  });
  assert.deepEqual(listBrands!.attributes, { 'db.system.name': 'sqlite', 'db.operation.name': 'listBrands' });
  assert.equal(JSON.parse(service.logs()).trace_id, request!.traceId);

  const { 'service.instance.id': instance, 'service.version': version, ...resource } = request!.resource;
  assert.match(String(instance), new RegExp(`^[0-9a-f]{12}-${process.pid}$`));
  assert.match(String(version), /^\d+\.\d+\.\d+(-dev)?$/);
  assert.equal(resource['service.name'], 'partner-network');
  assert.equal(resource['deployment.environment.name'], 'sandbox');
});

test('on Postgres and Redis a trace names the server and the limiter', needsRedis, async (t) => {
  const collector = await startCollector(t);
  const flags = ['--redis', await redisUrl(t), '--balances-rate', '1000'];
  const service = await startTracedService(t, collector.url, { engine: 'postgres', flags });
  const query = '?customer_id=alice&type=CHECKING';
  const { headers } = await service.balances(query, { key: keys.acme });
  await service.send();

  const spans = collector.traceOf(headers['x-request-id']);
  assertTree(spans, ['GET /network/v1/balances', 'store findKey', 'limiter admit', 'store listBalances']);
  // On a busy machine, Redis may answer after the 20 ms that it has.
  assert.match(String(spans[2]!.attributes['partner_network.limiter.source']), /^(redis|local)$/);
  for (const asked of [spans[1]!, spans[3]!]) {
    assert.equal(asked.attributes['db.system.name'], 'postgresql');
    assert.equal(asked.attributes['partner_network.database.server'], 'primary');
  }
});

test('only a statement that waits for a connection has a span for the wait', async (t) => {
  const store = await openServing(t, await fixtureDatabase(t), { connections: 1 });
  const find = () => store.findKey(digestOfKey(keys.acme));
  const { begun } = await recorded(() => Promise.all([find(), find()]));
  assert.deepEqual(begun, ['wait for a connection']);
  assert.deepEqual((await recorded(find)).begun, []);
});

test('a refusal has its code and is not an error; a fault is an error of its step', async (t) => {
  const collector = await startCollector(t);
  const listBrands = () => Promise.reject(new StoreUnavailable('secret of a server'));
  const service = await startTracedService(t, collector.url, {
    flags: ['--brands-rate', '2'],
    store: (store) => ({ ...store, listBrands }),
  });
  const answers = [];
  for (const query of ['', '?limit=0', '']) answers.push(await service.brands(query, { key: keys.acme }));
  await service.send();

  const [failed, invalid, limited] = answers.map(({ headers }) => collector.traceOf(headers['x-request-id']));
  const codes = [failed, invalid, limited].map((spans) => {
    const { attributes, status } = spans![0]!;
    const { 'http.response.status_code': answered, 'partner_network.code': code } = attributes;
    return [answered, code, attributes['error.type'], status.code];
  });
  const [unset, error] = [0, 2];
  assert.deepEqual(codes, [
    [503, 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE', error],
    [400, 'VALUE_TOO_LOW', undefined, unset],
    [429, 'RATE_LIMITED', undefined, unset],
  ]);
  const asked = failed!.at(-1)!;
  assert.deepEqual(
    [asked.name, asked.attributes['error.type'], asked.status.code],
    ['store listBrands', 'StoreUnavailable', error],
  );
  assert.equal(limited!.at(-1)!.attributes['partner_network.limiter.outcome'], 'refused');
  assert.ok(!collector.text().includes('secret'));
});

test('no span holds a key, a cursor, a parameter, an amount or an address', async (t) => {
  const collector = await startCollector(t);
  const service = await startTracedService(t, collector.url);
  const headers = { 'User-Agent': 'secret-agent', 'X-Forwarded-For': '203.0.113.7' };
  const query = '?customer_id=alice&type=CHECKING&limit=1&grant_id=g-active';
  const { balances, cursor } = JSON.parse((await service.balances(query, { key: keys.acme, headers })).text);
  await service.balances(`${query}&cursor=${cursor}`, { key: keys.acme });
  await service.brands('?reference_id=shared', { key: keys.acme });
  await service.brands('?token=secret', { key: keys.neverIssued });
  await service.call('/secret/path', { key: keys.acme });
  await service.send();

  assert.equal(collector.spans().filter(({ kind }) => kind === kinds.server).length, 4);
  const digests = [keys.acme, keys.neverIssued].map((key) => Buffer.from(digestOfKey(key)).toString('hex'));
  const secrets = [
    ...[keys.acme, keys.neverIssued, ...digests, cursor, String(balances[0].amount)],
    ...['alice', 'g-active', 'shared', 'secret', '203.0.113.7', '127.0.0.1'],
  ];
  for (const secret of secrets) assert.ok(!collector.text().includes(secret), `${secret} was sent`);
});

test("a client's own trace is linked if it is well-formed, and decides nothing", async (t) => {
  const collector = await startCollector(t);
  const service = await startTracedService(t, collector.url);
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  const sent: [traceparent: string | string[], isLinked: boolean][] = [
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, true],
    [`00-${traceId}-${spanId}-01-x`, false],
    [`00-${traceId.toUpperCase()}-${spanId}-01`, false],
    [`00-${'0'.repeat(32)}-${spanId}-01`, false],
    [`00-${traceId}-${'0'.repeat(16)}-01`, false],
    [[`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`], false],
  ];
  const answers = [];
  for (const [traceparent] of sent) {
    answers.push(await service.brands('', { key: keys.acme, headers: { traceparent } }));
  }
  await service.send();

  for (const [index, { headers }] of answers.entries()) {
    const [request] = collector.traceOf(headers['x-request-id']);
    assert.notEqual(request!.traceId, traceId);
    assert.equal(request!.parentSpanId, undefined);
    const links = request!.links.map((link) => [link.traceId, link.spanId]);
    assert.deepEqual(links, sent[index]![1] ? [[traceId, spanId]] : [], String(sent[index]![0]));
  }
});

test('only the given share of requests is traced', async (t) => {
  const collector = await startCollector(t);
  const variables = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
  const service = await startTracedService(t, collector.url, { variables });
  const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  assert.equal((await service.brands('', { key: keys.acme, headers })).status, 200);
  await service.send();
  assert.deepEqual([collector.spans(), JSON.parse(service.logs()).trace_id], [[], undefined]);
});
