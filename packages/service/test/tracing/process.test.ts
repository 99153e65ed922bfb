/** Tracing in a process of its own: what it sends, and whether it ends. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { fixtureLine, serveSandbox } from '../../../testkit/fixtures/served.ts';
import { startCollector } from '../../../testkit/servers/collector.ts';
import { fixtureDatabase } from '../../../testkit/service/database.ts';

type Variables = Readonly<Record<string, string>>;

function serveWith(t: TestContext, database: string, variables: Variables, ...flags: string[]) {
  return serveSandbox(t, database, flags, { variables });
}

async function serveFixture(t: TestContext, variables: Variables) {
  const { database } = await fixtureLine(t);
  return serveWith(t, database, variables, '--brands-rate', '0');
}

test('each worker sends all of its spans, with the settings of the variables', async (t) => {
  const collector = await startCollector(t);
  const database = await fixtureDatabase(t);
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret-of-the-collector',
    OTEL_SERVICE_NAME: 'network-of-ours',
    OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=pod-1',
  };
  const { brands, signal, ended } = await serveWith(t, database, variables, '--workers', '2');
  const answers = await Promise.all(Array.from({ length: 10 }, () => brands('', { key: keys.acme })));
  signal('SIGINT');
  assert.equal(await ended, 0);

  const traces = answers.map(({ headers }) => collector.traceOf(headers['x-request-id']));
  for (const [request, ...steps] of traces) {
    // Some requests find the key in the cache.
    const [admit, listBrands] = steps.filter(({ name }) => name !== 'store findKey');
    assert.deepEqual([admit!.name, listBrands!.name], ['limiter admit', 'store listBrands']);
    // The supervisor of the workers decides.
    assert.equal(admit!.attributes['partner_network.limiter.source'], 'memory');
    assert.equal(request!.resource['service.name'], 'network-of-ours');
    assert.equal(request!.resource['k8s.pod.name'], 'pod-1');
  }
  assert.equal(new Set(traces.map(([request]) => request!.resource['service.instance.id'])).size, 2);
  assert.equal(collector.headers()[0]!['api-key'], 'secret-of-the-collector');
});

test('a collector that never ends its answer delays nothing, and is logged once', async (t) => {
  const { url } = await startCollector(t, true);
  const { brands, signal, ended, texts } = await serveFixture(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=secret-of-the-collector',
  });
  // More spans than fit into one batch. If requests waited for the collector, the test would time out.
  for (let calls = 0; calls < 70; calls += 1) {
    assert.equal((await brands('', { key: keys.acme })).status, 200);
  }
  const signalledMs = performance.now();
  signal('SIGINT');
  assert.equal(await ended, 0);
  assert.ok(performance.now() - signalledMs < 10_000);
  const logged = texts().stdout.match(/"level":40.*traces are lost.*/g) ?? [];
  assert.equal(logged.length, 1, texts().stdout);
  assert.ok(!(texts().stdout + texts().stderr).includes('secret-of-the-collector'));
});
