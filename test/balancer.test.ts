/** The HAProxy configuration in docs/how-to/operators, with a real HAProxy. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type TestContext, test } from 'node:test';
import { errorCatalogue } from '@partner-network/contract/errors';
import { httpBounds } from '../packages/common/src/bounds/http.ts';
import { until } from '../packages/testkit/fixtures/lifetime.ts';
import { listenOnAnyPort } from '../packages/testkit/servers/free-port.ts';
import {
  type Behind,
  faultsOfConfig,
  haproxyConfig,
  startHaproxy,
  withoutHaproxy,
} from '../packages/testkit/servers/haproxy.ts';

const config = readFileSync(haproxyConfig, 'utf8');

test('answers of the balancer itself have the shape of our errors', () => {
  const answers = [...config.matchAll(/http-error status (\d+) .* string '([^']+)' hdr Retry-After (\d+)/g)];
  assert.deepEqual(
    answers.map(([, status, , seconds]) => [status, seconds]),
    [
      ['429', '60'],
      ['502', '1'],
      ['503', '1'],
      ['504', '1'],
    ],
  );
  for (const [, sent, body = ''] of answers) {
    const [{ code, ...error }] = JSON.parse(body).errors;
    const { category, detail, status } = errorCatalogue[code as keyof typeof errorCatalogue];
    assert.equal(error.category, category);
    assert.equal(status, sent === '429' ? 429 : 503);
    if (sent !== '429') assert.equal(error.detail, detail);
  }
});

test('the balancer closes idle connections before the service does, and notices a drain in time', () => {
  const seconds = (pattern: RegExp) => Number(pattern.exec(config)?.[1]);
  assert.ok(seconds(/timeout http-keep-alive (\d+)s/) * 1_000 < httpBounds.keepAliveMs);
  const [, interval, fast, fall] = /inter (\d+)s fastinter (\d+)ms fall (\d+)/.exec(config) ?? [];
  const noticedMs = Number(interval) * 1_000 + (Number(fall) - 1) * Number(fast);
  assert.ok(noticedMs <= 2_000, `${noticedMs} ms`);
});

test('HAProxy accepts the configuration', { skip: withoutHaproxy }, () => {
  assert.equal(faultsOfConfig(), '');
});

interface StandIn {
  readonly server: Server;
  readonly behind: Behind;
  isReady: boolean;
}

/** A server in place of an instance, which can be stopped, and does not need to be ready. */
async function startStandIn(t: TestContext): Promise<StandIn> {
  const headers = { 'X-Request-Id': 'id-of-the-service', 'Cache-Control': 'max-age=60' };
  const server = createServer({ keepAliveTimeout: httpBounds.keepAliveMs }, ({ url }, response) => {
    const served = { ...headers, 'X-Served-By': String(standIn.behind.port) };
    response.writeHead(url === '/readyz' && !standIn.isReady ? 503 : 200, served).end();
  });
  const port = await listenOnAnyPort(t, server);
  const standIn = { server, behind: { port, operationsPort: port }, isReady: true };
  return standIn;
}

test('requests go to the instance that is ready, and to both if none is ready', {
  skip: withoutHaproxy,
}, async (t) => {
  const one = await startStandIn(t);
  const two = await startStandIn(t);
  const proxy = await startHaproxy(t, [one.behind, two.behind]);
  /** The statuses and the instances of some answers. */
  const answers = async () => {
    const calls = Array.from({ length: 10 }, () => fetch(`http://127.0.0.1:${proxy.port}/network/v1/brands`));
    const all = (await Promise.all(calls)).map(
      ({ status, headers }) => `${status} ${headers.get('x-served-by')}`,
    );
    return [...new Set(all)].toSorted();
  };
  const ofBoth = [one, two].map(({ behind }) => `200 ${behind.port}`).toSorted();
  one.isReady = false;
  await until(20_000, async () => (await answers()).join() === `200 ${two.behind.port}`);
  two.isReady = false;
  await until(20_000, async () => (await answers()).join() === ofBoth.join());
  one.isReady = true;
  await until(20_000, async () => (await answers()).join() === `200 ${one.behind.port}`);
});

test('every answer has a request id, which the log contains without the query', {
  skip: withoutHaproxy,
}, async (t) => {
  const one = await startStandIn(t);
  const two = await startStandIn(t);
  const log = createSocket('udp4').bind(0, '127.0.0.1');
  t.after(() => log.close());
  await once(log, 'listening');
  const lines: string[] = [];
  log.on('message', (line) => lines.push(String(line)));
  const { port } = await startHaproxy(t, [one.behind, two.behind], (whole) =>
    whole.replace('log stdout', `log 127.0.0.1:${log.address().port}`),
  );
  const call = () =>
    fetch(`http://127.0.0.1:${port}/network/v1/brands?cursor=A_CURSOR`, {
      headers: { Authorization: 'Bearer A_KEY' },
    });
  const lineOf = async (id: string) => {
    await until(20_000, () => lines.some((line) => line.includes(id)));
    return lines.find((line) => line.includes(id)) ?? '';
  };

  const { headers: passed } = await call();
  assert.deepEqual(
    ['x-request-id', 'cache-control', 'keep-alive'].map((name) => passed.get(name)),
    ['id-of-the-service', 'max-age=60', null],
  );
  assert.match(
    await lineOf('id-of-the-service'),
    /^127\.0\.0\.1:\d+ \[.*\] (one|two) .* 200 .* GET \/network\/v1\/brands$/m,
  );

  for (const { server } of [one, two]) {
    server.close();
    server.closeAllConnections();
  }
  const { status, headers } = await call();
  assert.equal(status, 503);
  assert.deepEqual(
    ['retry-after', 'cache-control', 'x-content-type-options', 'content-type'].map((name) =>
      headers.get(name),
    ),
    ['1', 'no-store', 'nosniff', 'application/json; charset=utf-8'],
  );
  assert.ok(Math.abs(Date.parse(headers.get('date') ?? '') - Date.now()) < 60_000);
  assert.match(await lineOf(headers.get('x-request-id') ?? 'no id'), / 503 .* GET \/network\/v1\/brands$/m);
  assert.doesNotMatch(lines.join(''), /A_CURSOR|A_KEY/);
});
