/** Reads the body of a request, with limits on its size and time. */
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { Exchange } from './handle.ts';
import { type Refusal, refusal, refusalSaying } from './refusal.ts';
import { headerValues } from './request.ts';

interface BodyLimits {
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

/** Refuses a body whose headers say that it is too large, before anything waits for it. */
export function requireAnnounced({ rawHeaders }: Exchange, { bytes, tooLarge }: BodyLimits): void {
  if ((lengthOf(rawHeaders) ?? 0) > bytes) throw tooLarge();
}

/** Reads the whole body and unpacks it. Returns it in pieces: joining them would take its memory twice. */
export async function readBody(exchange: Exchange, limits: BodyLimits): Promise<readonly Buffer[]> {
  requireAnnounced(exchange, limits);
  const { response } = exchange;
  // The client waits for this before it sends the body.
  if (headerValues(exchange.rawHeaders, 'expect').length > 0) response?.writeContinue();
  const isPacked = encodingOfBody(exchange) !== 'identity';
  return receive(exchange.request as IncomingMessage, isPacked, limits).catch((refused) => {
    dropBody(exchange);
    // The rest of a late body would be read as the next request.
    if (refused.status === 408 && response !== undefined) response.shouldKeepAlive = false;
    throw refused;
  });
}

/** Reads a body of this type, without an encoding. */
export async function readPlainBody(exchange: Exchange, type: string, limits: BodyLimits): Promise<Buffer> {
  if (typeOfBody(exchange) !== type || encodingOfBody(exchange) !== 'identity') {
    throw refusal('UNSUPPORTED_MEDIA_TYPE', { types: `${type}, without an encoding` });
  }
  return Buffer.concat(await readBody(exchange, limits));
}

/**
 * Frees the memory of pieces. Otherwise those of earlier bodies stay until the next full garbage collection:
 * with 30 bodies of 16 MiB, 100 MB of them. A piece that shares its memory is left alone.
 */
export function freePieces(pieces: readonly Buffer[]): void {
  for (const { buffer, length } of pieces) {
    if (length > 0 && length === buffer.byteLength) (buffer as ArrayBuffer).transfer(0);
  }
}

/** Reads the rest of a body and drops it, so that the client can read the response. */
export function dropBody({ request }: Exchange): void {
  const body = request as IncomingMessage;
  body.on('data', (piece) => freePieces([piece])).resume();
}

/** Bytes of a piece of an unpacked body: the same that a socket gives at once. */
const chunkSize = 64 * 1024;

/** Copies a piece. The thread that unpacks may still write to the memory beside the original. */
const copyOf = (piece: Buffer) => Buffer.from(new Uint8Array(piece).buffer);

const notPacked = refusalSaying('MALFORMED_REQUEST', 'Send a body that gzip can unpack.');

function receive(
  request: IncomingMessage,
  isPacked: boolean,
  { bytes, ms, tooLarge }: BodyLimits,
): Promise<Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>();
  const pieces: Buffer[] = [];
  let length = 0;
  const timer = setTimeout(() => reject(refusal('REQUEST_TIMEOUT')), ms);
  const unpacking = isPacked ? createGunzip({ chunkSize }) : undefined;
  const body = unpacking ? request.pipe(unpacking) : request;
  const onData = (piece: Buffer) => {
    length += piece.length;
    pieces.push(unpacking ? copyOf(piece) : piece);
    if (length > bytes) reject(tooLarge());
  };
  body.on('data', onData);
  body.once('end', () => resolve(pieces));
  unpacking?.on('error', () => reject(notPacked));
  // The rest of the body will not arrive. The client may also have left while it waited for its turn.
  const onAborted = () => reject(refusal('MALFORMED_REQUEST'));
  if (request.aborted) onAborted();
  else request.once('aborted', onAborted);
  promise.catch(() => freePieces(pieces));
  return promise.finally(() => {
    clearTimeout(timer);
    body.off('data', onData);
    request.off('aborted', onAborted);
    request.unpipe();
    unpacking?.destroy();
  });
}
