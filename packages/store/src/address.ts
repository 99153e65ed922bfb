export type DatabaseAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  /** Several addresses of one database. One of them at a time is the primary. */
  | { readonly engine: 'postgres'; readonly urls: readonly string[] };

/**
 * What the database is opened for. `admin`: the administrative service, which never changes the schema.
 * `command`: one command. `feed`: a command that retries by itself.
 * `revocation`: a command that retries until no lock is in its way. `create`: a command that may create the
 * database. `migrate`: a schema update. `distribute`: the same, and the tables are spread over nodes.
 */
export type Purpose =
  | 'serve'
  | 'admin'
  | 'command'
  | 'feed'
  | 'dry-run'
  | 'revocation'
  | 'create'
  | 'migrate'
  | 'distribute';

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
