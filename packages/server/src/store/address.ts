export type DatabaseAddress =
  | { readonly engine: 'sqlite'; readonly path: string }
  /** One database under several addresses, of which one at a time is the primary. */
  | { readonly engine: 'postgres'; readonly urls: readonly string[] };

/**
 * To serve, to run one command, to run one that waits for a database by itself, to run one that may be the
 * first, or to bring the schema up to date.
 */
export type Purpose = 'serve' | 'command' | 'feed' | 'create' | 'migrate';

/** What concerns only an engine with servers of its own. */
export interface StoreOptions {
  readonly replicas: readonly string[];
  /** Connections to each server, at the most. */
  readonly connections: number;
  /** False behind a pooler that gives each transaction another connection. */
  readonly keepsSession: boolean;
  /** Which instance it serves for: the server shows that with each of its connections. */
  readonly instance?: string;
}

/** The address behind a database URL, or undefined when no engine knows it. */
export function parseDatabaseUrl(url: string): DatabaseAddress | undefined {
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  if (path !== undefined) return { engine: 'sqlite', path };
  const urls = postgresUrls(url);
  return urls === undefined ? undefined : { engine: 'postgres', urls };
}

/**
 * `postgres://USER@HOST1,HOST2/NAME`: two addresses of one database, as Postgres's own programs read it. An
 * "@" that stands elsewhere belongs to a password: parts of that would pass for a host, which is shown.
 */
export function postgresUrls(url: string): string[] | undefined {
  const [, scheme, user = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^@/?#]*@)?([^@/?#]*)([^@]*)$/.exec(url) ?? [];
  if (scheme === undefined) return undefined;
  const urls = hosts.split(',').map((host) => `${scheme}${user}${host}${rest}`);
  return urls.every(isPostgresUrl) ? urls : undefined;
}

/** Those of TLS. The driver would pass over any other, and so over a TLS setting that is misspelled. */
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
