import type { RedisOptions } from 'ioredis';

/** The options of the driver that a URL sets. */
export type RedisAddress = Required<Pick<RedisOptions, 'host' | 'port' | 'db'>> &
  Pick<RedisOptions, 'username' | 'password' | 'tls'> & {
    /** The nodes of a Redis Cluster that the URL names. The first one is also `host` and `port`. */
    readonly nodes?: readonly { readonly host: string; readonly port: number }[];
  };

const defaultPort = 6379;
const schemes = ['redis:', 'rediss:'];
const ofCluster = /^(rediss?)-cluster:\/\/([^@]*@)?([^@/]+)$/;

/** Returns undefined if the text is not the URL of a Redis or a Redis Cluster. */
export function parseRedisUrl(text: string): RedisAddress | undefined {
  const [, scheme, credentials = '', hosts] = ofCluster.exec(text) ?? [];
  if (hosts === undefined) return parseServer(text);
  const nodes = hosts.split(',').map((host) => parseServer(`${scheme}://${credentials}${host}`));
  if (!nodes.every((node) => node !== undefined)) return undefined;
  return { ...nodes[0]!, nodes: nodes.map(({ host, port }) => ({ host, port })) };
}

function parseServer(text: string): RedisAddress | undefined {
  const url = URL.parse(text);
  if (url === null || !schemes.includes(url.protocol)) return undefined;
  if (!/^[^,]+$/.test(url.hostname) || /[?#\s]/.test(text)) return undefined;
  const db = /^\/?(\d{0,5})$/.exec(url.pathname)?.[1];
  if (db === undefined) return undefined;
  try {
    return {
      // Only URLs put an IPv6 address in brackets.
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? defaultPort : Number(url.port),
      username: decodeURIComponent(url.username) || undefined,
      password: decodeURIComponent(url.password) || undefined,
      db: Number(db),
      ...(url.protocol === 'rediss:' && { tls: {} }),
    };
  } catch {
    // The user or the password has a percent sign without two hex digits.
    return undefined;
  }
}
