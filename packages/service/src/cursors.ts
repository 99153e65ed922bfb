/** A sealed box for short texts, and the cursors of listings: positions in a sealed box. */
import {
  type CipherKey,
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  randomFillSync,
} from 'node:crypto';
import { cursorsBounds } from '@partner-network/common/bounds/service';
import { OperatorError } from '@partner-network/common/errors';
import { createFailureLog } from '@partner-network/common/observability/log';
import { isPast } from '@partner-network/common/times';
import type { Environment } from '@partner-network/contract/environments';
import { lengths } from '@partner-network/contract/limits';
import { refusal } from '@partner-network/http/refusal';
import { type CursorKey, type Store, StoreUnavailable } from '@partner-network/store/port';
import type { Logger } from 'pino';

/** What a cursor is bound to. With any other value it does not open. */
interface CursorScope {
  readonly endpoint: string;
  readonly partnerId: string;
  readonly filters: readonly (string | number | undefined)[];
}

/** The position of a client in a listing: the last id it got, and the database state that it has seen. */
export interface Position {
  readonly after: string;
  readonly walPosition: bigint;
}

export const firstPosition: Position = { after: '', walPosition: 0n };

export type Cursors = Pick<ReturnType<typeof createCursors>, 'seal' | 'open' | 'box'>;

/** What a text is sealed for: a name, and values. With any other it does not open. */
type SealedFor = readonly [name: string, ...values: (string | number | undefined)[]];

/** Seals texts that leave the service and come back. Nobody else can read or change one. */
export interface SealedBox {
  seal(context: SealedFor, text: string): string;
  /** Undefined if the text was not sealed for this, or its time is over. */
  open(context: SealedFor, sealed: string): string | undefined;
}

type Key = Pick<CursorKey, 'id' | 'opens_until'> & { readonly secret: CipherKey };

/** Prepared once: Node takes 55 us to do it for each cursor. */
const prepared = <K extends Pick<CursorKey, 'secret'>>(key: K) => ({
  ...key,
  secret: createSecretKey(key.secret),
});

const { lifetimeMs, aheadMs } = cursorsBounds;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const cipherOptions = { authTagLength: tagBytes };
const timeBytes = 6;
const walPositionBytes = 8;
/** Key id and nonce, which are not encrypted. */
const headBytes = 1 + nonceBytes;
const fixedBytes = headBytes + timeBytes + walPositionBytes + tagBytes;
/** One byte says how the id is encoded. */
const largestIdBytes = Math.floor((lengths.cursor * 3) / 4) - fixedBytes - 1;

/** 256 random nonces at a time: the kernel takes as long for 12 bytes as for a thousand. */
const nonces = Buffer.alloc(nonceBytes * 256);
let nonceEnd = nonces.length;

function nextNonce(): Buffer {
  if (nonceEnd === nonces.length) {
    randomFillSync(nonces);
    nonceEnd = 0;
  }
  nonceEnd += nonceBytes;
  return nonces.subarray(nonceEnd - nonceBytes, nonceEnd);
}

/**
 * Texts are encrypted with the first key and decrypted with any of them. The bytes of a sealed text: key id,
 * nonce, encrypted (expiry, WAL position, text), authentication tag. `keysNow` throws if the keys are old.
 */
export function createCursors(keysNow: () => readonly Key[], environment: Environment, nowMs: () => number) {
  /** Authenticated but not part of the sealed text, which opens only in the same environment. */
  function bindingOf(context: SealedFor): Buffer {
    return Buffer.from(JSON.stringify([environment, ...context.map((value) => value ?? null)]));
  }

  function seal(context: SealedFor, content: Buffer, walPosition = 0n): string {
    const [{ id, secret }] = keysNow() as [Key];
    const nonce = nextNonce();
    const when = Buffer.allocUnsafe(timeBytes + walPositionBytes);
    when.writeUIntBE(nowMs() + lifetimeMs, 0, timeBytes);
    when.writeBigUInt64BE(walPosition, timeBytes);
    const sealer = createCipheriv(cipher, secret, nonce, cipherOptions);
    sealer.setAAD(bindingOf(context));
    const sealed = sealer.update(Buffer.concat([when, content]));
    sealer.final();
    return Buffer.concat([Buffer.of(id), nonce, sealed, sealer.getAuthTag()]).toString('base64url');
  }

  /** Throws if the tag does not match. */
  function unseal(keys: readonly Key[], context: SealedFor, sealedText: string): Unsealed | undefined {
    const bytes = Buffer.from(sealedText, 'base64url');
    // The decoder ignores stray characters and unused bits: without this, a cursor would have several texts.
    if (bytes.length < fixedBytes || bytes.toString('base64url') !== sealedText) return undefined;
    const key = keys.find(({ id }) => id === bytes[0]);
    // A key that is past its time opens nothing, even if it is still stored.
    if (key === undefined || isPast(key.opens_until, nowMs())) return undefined;
    const decipher = createDecipheriv(cipher, key.secret, bytes.subarray(1, headBytes), cipherOptions);
    decipher.setAAD(bindingOf(context)).setAuthTag(bytes.subarray(-tagBytes));
    const sealed = bytes.subarray(headBytes, -tagBytes);
    const opened = Buffer.concat([decipher.update(sealed), decipher.final()]);
    const leftMs = opened.readUIntBE(0, timeBytes) - nowMs();
    // A cursor that was sealed while a clock was ahead would open for too long.
    if (leftMs <= 0 || leftMs > lifetimeMs + aheadMs) return undefined;
    return {
      content: opened.subarray(timeBytes + walPositionBytes),
      walPosition: opened.readBigUInt64BE(timeBytes),
    };
  }

  function open(context: SealedFor, sealedText: string): Unsealed | undefined {
    const keys = keysNow();
    try {
      return unseal(keys, context, sealedText);
    } catch {
      return undefined;
    }
  }

  const box: SealedBox = {
    seal: (context, text) => seal(context, Buffer.from(text)),
    open: (context, sealed) => open(context, sealed)?.content.toString(),
  };
  return {
    box,
    /** Makes the cursor for the records after this position. */
    seal: ({ endpoint, partnerId, filters }: CursorScope, { after, walPosition }: Position): string =>
      seal([endpoint, partnerId, ...filters], packId(after), walPosition),
    /** The position in a cursor. Every invalid cursor gets the same refusal. */
    open({ endpoint, partnerId, filters }: CursorScope, cursor: string): Position {
      const opened = open([endpoint, partnerId, ...filters], cursor);
      if (opened === undefined) throw refusal('INVALID_CURSOR', {}, 'cursor');
      return { after: unpackId(opened.content), walPosition: opened.walPosition };
    },
  };
}

/** The content of a sealed text. */
interface Unsealed {
  readonly content: Buffer;
  readonly walPosition: bigint;
}

const asUtf8 = 0;
const asCodePoints = 1;
const bitsPerCodePoint = 21n;

/**
 * Encodes an id so that it fits. 256 code points take up to 1,024 bytes in UTF-8, more than a cursor of 1,024
 * characters can hold, but only 672 bytes with 21 bits each.
 */
function packId(id: string): Buffer {
  const utf8 = Buffer.from(id);
  if (utf8.length <= largestIdBytes) return Buffer.concat([Buffer.of(asUtf8), utf8]);
  let bits = 1n;
  for (const character of id) bits = (bits << bitsPerCodePoint) | BigInt(character.codePointAt(0)!);
  const hex = bits.toString(16);
  return Buffer.concat([
    Buffer.of(asCodePoints),
    Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'),
  ]);
}

function unpackId(packed: Buffer): string {
  const body = packed.subarray(1);
  if (packed[0] === asUtf8) return body.toString();
  let id = '';
  for (let bits = BigInt(`0x${body.toString('hex')}`); bits > 1n; bits >>= bitsPerCodePoint) {
    id = String.fromCodePoint(Number(BigInt.asUintN(Number(bitsPerCodePoint), bits))) + id;
  }
  return id;
}

/**
 * Cursors whose keys are read every half second, so that a rotation needs no restart. A cursor that one
 * instance seals must open on all others. So the keys that were read are valid for only
 * `keysStaleMs` of the monotonic clock; without valid keys an instance neither seals nor opens. A new
 * key seals after `keySettleMs`: by then every instance has read it, or has no valid keys.
 */
export async function openCursors(
  store: Pick<Store, 'environment'> & {
    cursorKeys(): Promise<readonly Pick<CursorKey, 'id' | 'secret' | 'opens_until'>[]>;
  },
  nowMs: () => number,
  log: Logger,
  elapsedMs: () => number = () => performance.now(),
) {
  const outage = createFailureLog();
  let freshUntilMs = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<readonly Key[]> {
    // A reading is as old as its query.
    const sentMs = elapsedMs();
    const keys = (await store.cursorKeys()).map(prepared);
    if (keys.length === 0) {
      throw new OperatorError(
        'The database has no cursor key. Create one with "partner-network cursor-key rotate".',
      );
    }
    freshUntilMs = sentMs + cursorsBounds.keysStaleMs;
    return keys;
  }

  let keys = await read();
  const isFresh = () => elapsedMs() < freshUntilMs;
  const keysNow = () => {
    if (!isFresh()) throw new StoreUnavailable('The cursor keys could not be read in time.');
    return keys;
  };

  function schedule(ms: number): void {
    if (!isClosed) timer = setTimeout(() => void renew(), ms).unref();
  }

  async function renew(): Promise<void> {
    try {
      const sealingId = keys[0]!.id;
      keys = await read();
      outage.recovered(() => log.warn('the cursor keys can be read again'));
      const { id } = keys[0]!;
      if (id !== sealingId) log.info({ cursor_key: id }, 'cursors are now sealed with another key');
      schedule(cursorsBounds.keysReadMs);
    } catch (err) {
      if (!isFresh()) {
        outage.failed(() =>
          log.error({ err }, 'the cursor keys cannot be read; requests that need a cursor get 503'),
        );
      }
      schedule(cursorsBounds.keysRetryMs);
    }
  }

  schedule(cursorsBounds.keysReadMs);
  return {
    ...createCursors(keysNow, store.environment, nowMs),
    /** Stops reading the keys. */
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
