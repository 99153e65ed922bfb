import { readFileSync } from 'node:fs';
import { httpBounds } from '../bounds/http.ts';

/**
 * The number of files that this process may open. Node has raised it as far as allowed at its start. Only
 * Linux shows it at once: elsewhere Node would need 27 ms to write a whole report.
 */
export function openFileLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === undefined ? undefined : Number(limit);
}

/** The number of connections of operators that this limit of open files allows. */
export function operatorsWithin(openFiles = Number.POSITIVE_INFINITY): number {
  return Math.min(httpBounds.operationsConnections, Math.floor(openFiles * httpBounds.operatorsShare));
}

/** The number of connections of clients that this limit of open files allows. */
export function connectionsWithin(openFiles = Number.POSITIVE_INFINITY): number {
  return Math.min(httpBounds.connections, Math.floor(openFiles * httpBounds.callersShare));
}
