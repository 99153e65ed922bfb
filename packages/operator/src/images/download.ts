import { lookup, Resolver } from 'node:dns/promises';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { imagesBounds } from '@partner-network/common/bounds/operator';
import { isWebAddress } from '@partner-network/common/text';
import { profileImage } from '@partner-network/contract/limits';
import { type ImageFailure, imageFailure, shownHost } from './inspect.ts';
import { isPublicAddress } from './public-address.ts';

/** How hosts are resolved and which addresses may be contacted. */
export interface Reach {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
}

export type Download =
  /** `isWhole` is false if the image is too large: the rest was not downloaded. */
  | { readonly body: Buffer; readonly isWhole: boolean }
  /** `bytes` is the announced size of an image that is too large. */
  | { readonly failure: ImageFailure; readonly bytes?: number };

/** Downloads an image. The signal ends it at any point: DNS, connection, redirect or body. */
export async function download(address: string, reach: Reach, signal: AbortSignal): Promise<Download> {
  if (!isWebAddress(address)) return { failure: imageFailure('INVALID_URL') };
  let url = new URL(address);
  try {
    for (let redirects = 0; redirects <= imagesBounds.redirects; redirects += 1) {
      const addresses = await addressesOf(url, reach, signal);
      // One private address is enough to refuse the host.
      if (!addresses.every(reach.isAllowed)) return failed('NOT_PUBLIC', url);
      const response = await request(url, addresses, signal);
      try {
        if (!redirectStatuses.includes(response.statusCode!)) return await bodyOf(url, response, signal);
        const next = targetOf(url, response.headers.location);
        if (next === undefined) return failed('BAD_REDIRECT', url);
        url = next;
      } finally {
        response.destroy();
      }
    }
    return { failure: imageFailure('TOO_MANY_REDIRECTS') };
  } catch (error) {
    // Any error is a failure of the image, so that one bad server does not end the command.
    if (signal.aborted) return { failure: imageFailure('TIMED_OUT') };
    const { code = 'no connection' } = error as NodeJS.ErrnoException;
    return failed('UNREACHABLE', url, { reason: reasonOf(code) });
  }
}

function failed(code: Parameters<typeof imageFailure>[0], url: URL, facts = {}): Download {
  return { failure: imageFailure(code, { host: shownHost(url), ...facts }) };
}

async function addressesOf(url: URL, { resolve }: Reach, signal: AbortSignal): Promise<readonly string[]> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', reject));
  return Promise.race([resolve(url.hostname.replace(/^\[(.*)\]$/, '$1')), aborted]);
}

/**
 * Sends a GET request. Connects only to these addresses, which were checked: a name server that answers
 * differently a moment later (DNS rebinding) has no effect.
 */
function request(url: URL, addresses: readonly string[], signal: AbortSignal): Promise<IncomingMessage> {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  const options: RequestOptions = {
    // A new agent for each request: no proxy, no reused connection.
    agent: false,
    lookup: (_host, _options, callback) => callback(null, known),
    signal,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    rejectUnauthorized: true,
    headers: {
      accept: 'image/png, image/jpeg',
      'accept-encoding': 'identity',
      'user-agent': 'partner-network-check-images',
    },
  };
  return new Promise((resolve, reject) => {
    const sent = url.protocol === 'https:' ? getHttps(url, options) : getHttp(url, options);
    sent.on('response', resolve).on('error', reject);
    // After a 101 response, Node emits `close` without `response` and `error`.
    sent.on('close', () => reject(Object.assign(new Error(), { code: 'ECONNRESET' })));
  });
}

const redirectStatuses = [301, 302, 303, 307, 308];

/** The target of a redirect, or undefined if it must not be followed. */
function targetOf(url: URL, location: string | undefined): URL | undefined {
  const next = location === undefined ? null : URL.parse(location, url.href);
  if (next === null || !isWebAddress(next.href)) return undefined;
  // A redirect from https to http would let anybody on the network replace the image.
  return url.protocol === 'https:' && next.protocol === 'http:' ? undefined : next;
}

async function bodyOf(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<Download> {
  const { statusCode, headers } = response;
  if (statusCode !== 200) return failed('BAD_STATUS', url, { status: statusCode });
  const isEncoded = (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';
  if (isEncoded) return failed('ENCODED', url);
  const bytes = Number(headers['content-length'] ?? 0);
  if (bytes >= profileImage.belowBytes) return { failure: imageFailure('TOO_LARGE'), bytes };

  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= profileImage.belowBytes) return { body: Buffer.concat(chunks), isWhole: false };
  }
  // Without a content-length, closing the connection ends the body, also when the signal closed it.
  signal.throwIfAborted();
  return { body: Buffer.concat(chunks), isWhole: true };
}

function reasonOf(code: string): string {
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'this host name does not exist';
  if (code === 'ECONNREFUSED') return 'it refuses connections';
  if (code === 'ECONNRESET') return 'the connection ended before the image was complete';
  if (code.startsWith('HPE_')) return `its response is not HTTP, or its headers are too long (${code})`;
  if (/CERT|SIGNATURE/.test(code)) return `its certificate is not trusted (${code})`;
  return `the connection failed (${code})`;
}

/** Resolves a host to its addresses; an address to itself. Rejects if the host has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Resolves by DNS only. The system's lookup would block one of Node's four pool threads while it waits for a
 * dead name server: other images would wait for a thread, and the process could not exit.
 */
export function resolveInDns(servers?: readonly string[]): Resolve {
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    // RFC 6761: localhost is always this machine, even if no name server knows it.
    if (/(^|\.)localhost\.?$/.test(host)) return ['127.0.0.1', '::1'];
    const resolver = new Resolver({ timeout: imagesBounds.dnsMs, tries: imagesBounds.dnsTries });
    if (servers !== undefined) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw answers.find((answer) => answer.status === 'rejected')?.reason;
  };
}

/** Resolves by the system, which on a private network may know names that the DNS does not. */
export const resolveBySystem: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export const publicOnly: Reach = { resolve: resolveInDns(), isAllowed: isPublicAddress };
export const anywhere: Reach = { resolve: resolveBySystem, isAllowed: () => true };
