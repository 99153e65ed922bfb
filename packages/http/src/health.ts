import { httpBounds } from '@partner-network/common/bounds/http';
import {
  exposition,
  type MetricRead,
  metric,
  readMetrics,
} from '@partner-network/common/observability/metric';
import { connectionsWithin } from '@partner-network/common/process';
import { originOf } from '@partner-network/common/text';
import type { Logger } from 'pino';
import type { Exchange, Route } from './handle.ts';
import { drainingDetail, refusal, refusalSaying } from './refusal.ts';
import { createHttpServer, listen, serveSite } from './server/server.ts';

/** Starts the listener for operators: /healthz, /readyz and /metrics, which says whether it is ready, too. */
export async function startHealth(
  host: string,
  port: number,
  /** Resolves to what does not work in the database. Rejects if it is lost. */
  ping: () => Promise<readonly string[]>,
  readOthers: () => Promise<readonly MetricRead[]>,
  log: Logger,
) {
  let isDraining = false;
  let failures: readonly string[] = [];
  /** Why it is not ready. Probes repeat a reason, which is logged once. */
  let reason: string | undefined;

  /** Rejects if nothing can be answered, and logs parts of the database that stop or begin to work. */
  async function look(): Promise<void> {
    if (isDraining) throw refusalSaying('SERVICE_UNAVAILABLE', drainingDetail);
    const found = await ping().catch((err) => {
      if (err.message !== reason) log.error({ err }, 'not ready: /readyz answers 503');
      reason = err.message;
      throw refusal('SERVICE_UNAVAILABLE');
    });
    if (reason !== undefined) log.warn('ready again');
    reason = undefined;
    for (const failure of found) {
      if (!failures.includes(failure)) log.error({ fault: failure }, 'a part of the database does not work');
    }
    for (const failure of failures) {
      if (!found.includes(failure)) log.warn({ fault: failure }, 'a part of the database works again');
    }
    failures = found;
  }

  async function readiness({ headers }: Exchange): Promise<string> {
    await look();
    return plainText(['ready', ...failures].join('\n'), headers);
  }

  async function readAll(): Promise<readonly MetricRead[]> {
    const isReady = look().then(
      () => 1,
      () => 0,
    );
    const [value, others] = await Promise.all([isReady, readOthers()]);
    return [...readMetrics([metric('partner_network_ready', () => value)]), ...others];
  }

  const routes = new Map([
    ['/healthz', { answer: async ({ headers }: Exchange) => plainText('alive', headers) }],
    ['/readyz', { answer: readiness }],
    ['/metrics', metricsRoute(readAll)],
  ]);
  const server = createHttpServer();
  // Probes come every few seconds: only their failures are logged.
  const site = { routes, log: log.child({}, { level: 'warn' }), notFound };
  const most = connectionsWithin(httpBounds.operationsConnections, httpBounds.operatorsShare);
  const { close } = serveSite(server, site, undefined, most);
  const url = originOf(host, await listen(server, host, port, '--ops-port'));
  return {
    url,
    /** From now on, /readyz answers 503, so that balancers send their traffic elsewhere. */
    drain: () => {
      isDraining = true;
    },
    close,
  };
}

/** The detail of the catalogue sends partners to /docs, which this address does not have. */
const notFound = refusalSaying(
  'NOT_FOUND',
  'Request /healthz, /readyz or /metrics: this is the operations address.',
);

function plainText(text: string, headers: string[]): string {
  headers.push('Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store');
  return `${text}\n`;
}

/** Answers with all metrics in the text format of Prometheus. */
export function metricsRoute(read: () => Promise<readonly MetricRead[]>): Route {
  let reading: Promise<string> | undefined;

  const answer = async ({ headers }: Exchange) => {
    // Concurrent requests share one reading, so that a flood of them cannot delay a probe.
    reading ??= read()
      .then(exposition)
      .finally(() => {
        reading = undefined;
      });
    headers.push('Content-Type', 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control', 'no-store');
    return reading;
  };
  return { answer };
}
