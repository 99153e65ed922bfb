/** Reads the body of a request, with limits on its size and time. */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Exchange } from './handle.ts';
import { type Refusal, refusal } from './refusal.ts';
import { headerValues } from './request.ts';

const unpack = promisify(gunzip);

export interface BodyLimits {
  readonly bytes: number;
  readonly ms: number;
  /** Thrown if the body is larger, packed or unpacked. */
  readonly tooLarge: () => Refusal;
}

/** The type of the body, in lower case and without its parameters. Empty if it is not clear. */
export function typeOfBody({ rawHeaders }: Exchange): string {
  const [type, ...others] = headerValues(rawHeaders, 'content-type');
  return others.length > 0 ? '' : (type ?? '').split(';')[0]!.trim().toLowerCase();
}

/** The encoding of the body: identity, gzip, or another one in lower case. */
export function encodingOfBody({ rawHeaders }: Exchange): string {
  return headerValues(rawHeaders, 'content-encoding').join().trim().toLowerCase() || 'identity';
}

export function hasBody({ rawHeaders }: Exchange): boolean {
  const length = lengthOf(rawHeaders);
  return length === undefined ? headerValues(rawHeaders, 'transfer-encoding').length > 0 : length > 0;
}

function lengthOf(rawHeaders: readonly string[]): number | undefined {
  const [length] = headerValues(rawHeaders, 'content-length');
  return length === undefined ? undefined : Number(length);
}

/** The bytes that a body may take until it is read, as far as its headers say. */
export function announcedBytes(exchange: Exchange, { bytes }: Pick<BodyLimits, 'bytes'>): number {
  const isPlain = encodingOfBody(exchange) === 'identity';
  return isPlain ? Math.min(bytes, lengthOf(exchange.rawHeaders) ?? bytes) : bytes;
}

/** Reads the whole body and unpacks it. */
export async function readBody(exchange: Exchange, limits: BodyLimits): Promise<Buffer> {
  const { bytes, tooLarge } = limits;
  if ((lengthOf(exchange.rawHeaders) ?? 0) > bytes) throw tooLarge();
  const { response } = exchange;
  // The client waits for this before it sends the body.
  if (headerValues(exchange.rawHeaders, 'expect').length > 0) response?.writeContinue();
  const packed = await receive(exchange.request as IncomingMessage, limits);
  if (encodingOfBody(exchange) === 'identity') return packed;
  try {
    return await unpack(packed, { maxOutputLength: bytes });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge()
      : refusal('MALFORMED_REQUEST');
  }
}

/** After a refusal the rest of the body is read and dropped, so that the client can read the response. */
function receive(request: IncomingMessage, { bytes, ms, tooLarge }: BodyLimits): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => reject(refusal('REQUEST_TIMEOUT')), ms);
  const onData = (chunk: Buffer) => {
    length += chunk.length;
    if (length > bytes) reject(tooLarge());
    else chunks.push(chunk);
  };
  request.on('data', onData);
  request.once('end', () => resolve(Buffer.concat(chunks)));
  // The client left before the end of the body: nobody reads the response.
  const onEnd = () => request.complete || reject(refusal('MALFORMED_REQUEST'));
  request.once('close', onEnd);
  request.once('error', onEnd);
  request.socket.once('end', onEnd);
  return promise.finally(() => {
    clearTimeout(timer);
    request.off('data', onData);
    request.socket.off('end', onEnd);
    request.resume();
  });
}
