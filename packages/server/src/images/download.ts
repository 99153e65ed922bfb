import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { profileImage } from '@partner-network/contract/limits';
import { imagesBounds } from '../bounds/images.ts';
import { isWebAddress } from '../lib/text.ts';
import { type ImageFault, imageFault, shownHost } from './faults.ts';
import { isPublicAddress } from './public-address.ts';
import { type Resolve, resolveBySystem, resolveInDns } from './resolve.ts';

/** Where a download may go. */
export interface Reach {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
}

export const publicOnly: Reach = { resolve: resolveInDns(), isAllowed: isPublicAddress };
export const anywhere: Reach = { resolve: resolveBySystem, isAllowed: () => true };

export type Download =
  /** An image that is too large is cut off there. */
  | { readonly body: Buffer; readonly isWhole: boolean }
  | { readonly fault: ImageFault; readonly bytes?: number };

/** A fault on the way, which ends the download. */
class DownloadFault extends Error {
  readonly fault: ImageFault;
  /** How large the image is said to be. */
  readonly bytes: number | undefined;

  constructor(fault: ImageFault, bytes?: number) {
    super(fault.code);
    this.fault = fault;
    this.bytes = bytes;
  }
}

/** Gets what is behind a URL; the signal ends it wherever it is, at a name, a redirect or the last byte. */
export async function download(address: string, reach: Reach, signal: AbortSignal): Promise<Download> {
  if (!isWebAddress(address)) return { fault: imageFault('INVALID_URL') };
  let url = new URL(address);
  try {
    for (let redirects = 0; redirects <= imagesBounds.imageRedirects; redirects += 1) {
      const response = await ask(url, reach, signal);
      try {
        const next = redirectOf(url, response);
        if (next === undefined) return await bodyOf(url, response, signal);
        url = next;
      } finally {
        response.destroy();
      }
    }
    return { fault: imageFault('TOO_MANY_REDIRECTS') };
  } catch (error) {
    return explain(error, url, signal);
  }
}

/**
 * Resolves the host, judges all of its addresses, and connects to these and no others: a name that leads
 * elsewhere a moment later leads nowhere.
 */
async function ask(url: URL, { resolve, isAllowed }: Reach, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = await resolve(host, signal);
  // One of several is enough to refuse: no host has a reason to be half public.
  if (!addresses.every(isAllowed)) {
    throw new DownloadFault(imageFault('NOT_PUBLIC', { host: shownHost(url) }));
  }
  const options: RequestOptions = {
    // One of its own, that knows no proxy and keeps no connection.
    agent: false,
    lookup: lookupOf(addresses),
    signal,
    // Said here, so that no variable can unsay it.
    rejectUnauthorized: true,
    headers: {
      accept: 'image/png, image/jpeg',
      'accept-encoding': 'identity',
      'user-agent': 'partner-network-check-images',
    },
  };
  return new Promise((answer, reject) => {
    const request = url.protocol === 'https:' ? getHttps(url, options) : getHttp(url, options);
    request.on('response', answer).on('error', reject);
    // An answer that switches protocols comes to its end without either.
    request.on('close', () => reject(Object.assign(new Error(), { code: 'ECONNRESET' })));
  });
}

/** Answers with what is known already. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, callback) => {
    if (all) callback(null, known);
    else callback(null, known[0]!.address, known[0]!.family);
  };
}

const redirectStatuses = [301, 302, 303, 307, 308];

/** Where an answer leads to, if it leads elsewhere. */
function redirectOf(url: URL, { statusCode = 0, headers }: IncomingMessage): URL | undefined {
  if (!redirectStatuses.includes(statusCode)) return undefined;
  const next = URL.parse(headers.location ?? '', url.href);
  const isFit = headers.location !== undefined && next !== null && isWebAddress(next.href);
  // What was asked for in secret is not to be had from anybody on the way.
  if (!isFit || (url.protocol === 'https:' && next.protocol === 'http:')) {
    throw new DownloadFault(imageFault('BAD_REDIRECT', { host: shownHost(url) }));
  }
  return next;
}

async function bodyOf(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<Download> {
  const { statusCode, headers } = response;
  const host = shownHost(url);
  if (statusCode !== 200) throw new DownloadFault(imageFault('BAD_STATUS', { host, status: statusCode }));
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new DownloadFault(imageFault('ENCODED', { host }));
  }
  const announced = Number(headers['content-length'] ?? 0);
  if (announced >= profileImage.belowBytes) throw new DownloadFault(imageFault('TOO_LARGE'), announced);

  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= profileImage.belowBytes) return { body: Buffer.concat(chunks), isWhole: false };
  }
  // An image without a length ends with its connection, also when it was we who ended that.
  signal.throwIfAborted();
  return { body: Buffer.concat(chunks), isWhole: true };
}

/** What went wrong, as a fault: whatever a server does, it is the image's and not ours. */
function explain(error: unknown, url: URL, signal: AbortSignal): Download {
  if (error instanceof DownloadFault) {
    const { fault, bytes } = error;
    return bytes === undefined ? { fault } : { fault, bytes };
  }
  if (signal.aborted) return { fault: imageFault('TIMED_OUT') };
  const { code = 'no connection' } = error as NodeJS.ErrnoException;
  return { fault: imageFault('UNREACHABLE', { host: shownHost(url), reason: reasonOf(code) }) };
}

function reasonOf(code: string): string {
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'there is no host of this name';
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ECONNRESET') return 'the connection ended before the whole image was there';
  if (code.startsWith('HPE_')) return `its answer is not HTTP, or its headers are too long (${code})`;
  if (/CERT|SIGNATURE/.test(code)) return `its certificate cannot be trusted (${code})`;
  return `the connection failed (${code})`;
}
