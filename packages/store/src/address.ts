import { adminBounds } from '@partner-network/common/bounds/operator';
import { storeBounds } from '@partner-network/common/bounds/store';

export type DatabaseAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  /** Several addresses of one database. One of them at a time is the primary. */
  | { readonly engine: 'postgres'; readonly urls: readonly string[] };

/** Settings for Postgres only. */
export interface StoreOptions {
  readonly replicas: readonly string[];
  /** Maximum number of connections to each server. */
  readonly connections: number;
  /** False behind a pooler in transaction mode: each transaction may run on another connection. */
  readonly keepsSession: boolean;
  /** Name of this instance, shown by the server for each connection. */
  readonly instance?: string;
}

/** What the caller needs of a database. By default as much as a command that may only read. */
export interface OpenOptions extends Partial<StoreOptions> {
  /**
   * What may happen to the schema. By default Postgres must have the current one, and the embedded database
   * is updated. `keep` updates nothing. `create` also creates a missing embedded database, `update` also
   * updates Postgres, and `distribute` then spreads its tables over nodes.
   */
  readonly schema?: 'keep' | 'create' | 'update' | 'distribute';
  /** Whether the roles of Postgres get their privileges after an update of the schema. */
  readonly grantsRoles?: boolean;
  /** The role of a service. On Postgres, its privileges are checked first. */
  readonly role?: 'network_serve' | 'network_admin';
  /** Statements get the short timeouts and the plans of requests, and no request waits for receipts. */
  readonly answersRequests?: boolean;
  /** Milliseconds that a statement on Postgres waits for a lock. By default as long as it may take. */
  readonly lockMs?: number;
  /** The least that the embedded database must allow. On a full disk it can be read and locked. */
  readonly access?: 'read' | 'lock' | 'write';
  /** Whether the embedded database is not used any more once its files are replaced or removed. */
  readonly watchesFiles?: boolean;
  /** Milliseconds for which a lock of the embedded database blocks the process, while it is opened. */
  readonly openingBlockMs?: number;
  /** The same from then on. By default as for opening. */
  readonly blockMs?: number;
}

export const toServe: OpenOptions = {
  role: 'network_serve',
  answersRequests: true,
  access: 'write',
  watchesFiles: true,
  openingBlockMs: storeBounds.sqliteStartBusyMs,
};

/** For the administrative service. It never changes the schema. */
export const toAdminister: OpenOptions = {
  role: 'network_admin',
  schema: 'keep',
  access: 'write',
  watchesFiles: true,
  lockMs: adminBounds.lockMs,
  openingBlockMs: adminBounds.sqliteBusyMs,
};

/** For a command that may run for months, and retries by itself. */
export const toFollow: OpenOptions = {
  access: 'write',
  watchesFiles: true,
  blockMs: storeBounds.sqliteFeedBusyMs,
};

/** For a trial, which is rolled back. */
export const toTry: OpenOptions = { access: 'lock', blockMs: storeBounds.sqliteFeedBusyMs };

/** For a command that retries until no lock is in its way. */
export const toRevoke: OpenOptions = { openingBlockMs: storeBounds.sqliteServeBusyMs };

export const toCreate: OpenOptions = { schema: 'create', access: 'write' };
export const toUpdate: OpenOptions = { schema: 'update', access: 'write' };
export const toDistribute: OpenOptions = { schema: 'distribute', access: 'write' };

/** Parses a database URL. Returns undefined if it is not valid for any engine. */
export function parseDatabaseUrl(url: string): DatabaseAddress | undefined {
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  if (path !== undefined) return { engine: 'sqlite', path };
  const urls = postgresUrls(url);
  return urls === undefined ? undefined : { engine: 'postgres', urls };
}

/**
 * Splits `postgres://USER@HOST1,HOST2/NAME`, as libpq does. Rejects a second "@": it belongs to an unescaped
 * password, and a part of the password would be shown as the host.
 */
export function postgresUrls(url: string): string[] | undefined {
  const [, scheme, user = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^@/?#]*)([^@]*)$/.exec(url) ?? [];
  if (scheme === undefined) return undefined;
  const urls = hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`);
  return urls.every(isPostgresUrl) ? urls : undefined;
}

/** The driver ignores unknown parameters, so a misspelled TLS setting would go unnoticed. */
const urlParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || ![...url.searchParams.keys()].every((name) => urlParameters.includes(name)))
    return false;
  try {
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
