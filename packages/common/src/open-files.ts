import { readFileSync } from 'node:fs';
import { httpBounds } from './bounds/http.ts';

/** The number of files that this process may open. Known on Linux only: elsewhere, reading it takes 27 ms. */
export function openFileLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? undefined : Number(limit);
}

/** The number of operator connections that fit into this limit of open files. */
export function operatorsWithin(openFiles = Number.POSITIVE_INFINITY): number {
  return Math.min(httpBounds.operationsConnections, Math.floor(openFiles * httpBounds.operatorsShare));
}

/** The number of client connections that fit into this limit of open files. */
export function connectionsWithin(openFiles = Number.POSITIVE_INFINITY): number {
  return Math.min(httpBounds.connections, Math.floor(openFiles * httpBounds.clientsShare));
}
