/** The HTTP server alone, with routes of the test, on real sockets. */
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { basePath } from '@partner-network/contract/operations';
import type { MetricName } from '../../common/src/observability/catalogue.ts';
import { createCaller } from '../../testkit/fixtures/http.ts';
import { watchedLog } from '../../testkit/watch/logs.ts';
import type { Exchange, Route } from '../src/handle.ts';
import type { Overload } from '../src/overload.ts';
import { createRequestMetrics } from '../src/request-metrics.ts';
import { createHttpServer, listen, serveSite } from '../src/server/server.ts';

interface Choices {
  /** Routes besides the page of brands and the short file, or in their place. */
  readonly routes?: Readonly<Record<string, Route>>;
  readonly connections?: number;
  readonly overload?: Overload;
}

export const brands = `${basePath}/brands`;
export const shortFile = '/assets/short';

/** The head of a request, without its last empty line. */
export const head = (path = brands, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: a\r\n`;
/** A whole request. */
export const ask = (path?: string) => `${head(path)}\r\n`;

/** Answers with an empty page, after this work. */
export function pageAfter(work: (exchange: Exchange) => unknown, text = '{"brands":[]}'): Route {
  return {
    answer: async (exchange) => {
      exchange.operation = 'listBrands';
      await work(exchange);
      exchange.headers.push('Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store');
      return text;
    },
  };
}

/** Routes whose page waits until `release`. */
export function heldPage() {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const route = pageAfter(() => {
    asked.resolve();
    return held.promise;
  });
  return { routes: { [brands]: route }, asked: asked.promise, release: held.resolve };
}

export async function startSite(t: TestContext, { routes, connections, overload }: Choices = {}) {
  const { log, logs, lines } = watchedLog();
  const server = createHttpServer();
  const requests = createRequestMetrics();
  const all = { [brands]: pageAfter(() => {}), [shortFile]: { answer: async () => 'x' }, ...routes };
  const { metrics, ...served } = serveSite(
    server,
    { routes: new Map(Object.entries(all)), log, requests },
    overload,
    connections,
  );
  const port = await listen(server, '127.0.0.1', 0, '--port');
  const caller = createCaller(port);
  const sockets: Socket[] = [];
  t.after(async () => {
    caller.disconnect();
    for (const socket of sockets) socket.destroy();
    await served.close();
  });
  /** Opens a connection, and sends this on it. With `allowHalfOpen`, only the test closes its side. */
  const open = (sent = '', allowHalfOpen = false) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
    sockets.push(socket.on('error', () => {}));
    if (sent !== '') socket.write(sent);
    return socket;
  };
  const readingsOf = (name: MetricName) => metrics.find((metric) => metric.name === name)!.read();
  const closedFor = (reason: string) =>
    readingsOf('partner_network_connections_closed_total').find(({ labels }) => labels.reason === reason)!
      .value;
  const count = () => readingsOf('partner_network_connections')[0]!.value;
  return { ...caller, ...served, port, server, open, requests, count, closedFor, logs, lines };
}
