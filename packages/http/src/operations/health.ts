import { httpBounds } from '@partner-network/common/bounds/http';
import type { MetricRead } from '@partner-network/common/observability/metric';
import { openFileLimit, operatorsWithin } from '@partner-network/common/open-files';
import { errorRecord } from '@partner-network/contract/errors';
import type { Logger } from 'pino';
import { anyOtherPath, type Exchange, type Route } from '../handle.ts';
import { Refusal } from '../refusal.ts';
import { addressOf, createHttpServer, listen, serveRoutes } from '../server/server.ts';
import { drainingDetail } from './draining.ts';
import { metricsRoute } from './metrics.ts';

/** Starts the listener for operators: /healthz, /readyz and /metrics. */
export async function startHealth(
  host: string,
  port: number,
  /** Resolves to what does not work in the database. Rejects if it is lost. */
  ping: () => Promise<readonly string[]>,
  readMetrics: () => Promise<readonly MetricRead[]>,
  log: Logger,
) {
  let isDraining = false;
  let faults: readonly string[] = [];

  async function readiness({ headers }: Exchange): Promise<string> {
    if (isDraining) throw new Refusal([{ ...errorRecord('SERVICE_UNAVAILABLE'), detail: drainingDetail }]);
    const found = await ping();
    for (const fault of found) {
      if (!faults.includes(fault)) log.error({ fault }, 'a part of the database does not work');
    }
    for (const fault of faults) {
      if (!found.includes(fault)) log.warn({ fault }, 'a part of the database works again');
    }
    faults = found;
    return plainText(['ready', ...faults].join('\n'), headers);
  }

  const routes = new Map<string, Route>([
    ['/healthz', async ({ headers }) => plainText('alive', headers)],
    ['/readyz', readiness],
    ['/metrics', metricsRoute(readMetrics)],
    [anyOtherPath, notFound],
  ]);
  const server = createHttpServer();
  // Probes come every few seconds: only their failures are logged.
  const { close } = serveRoutes(server, routes, log.child({}, { level: 'warn' }), {
    room: { connections: operatorsWithin(openFileLimit()), unreadCharacters: httpBounds.unreadCharacters },
  });
  const url = addressOf(host, await listen(server, host, port, '--ops-port'));
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
async function notFound(): Promise<never> {
  const detail = 'Request /healthz, /readyz or /metrics: this is the operations address.';
  throw new Refusal([{ ...errorRecord('NOT_FOUND'), detail }]);
}

function plainText(text: string, headers: string[]): string {
  headers.push('Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store');
  return `${text}\n`;
}
