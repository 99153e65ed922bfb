/** What this process is: its version, its name and its limit of open files. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { httpBounds } from './bounds/http.ts';

interface Manifest {
  readonly version: string;
  /** What an operator installs to send traces. */
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** Our package.json. */
export function ownManifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../partner-network/package.json', import.meta.url), 'utf8'));
}

export function ownVersion(): string {
  return ownManifest().version;
}

const variable = 'PARTNER_NETWORK_INSTANCE';

/** A random name, which workers inherit. Containers may have the same host name and process id. */
export function instanceName(): string {
  process.env[variable] ||= randomBytes(6).toString('hex');
  return process.env[variable];
}

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
