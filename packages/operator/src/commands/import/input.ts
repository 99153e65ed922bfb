/** The FILE of a command: a path, or standard input. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, parse } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ingestBounds } from '@partner-network/common/bounds/operator';
import { OperatorError } from '@partner-network/common/errors';
import { maskSecrets, printable } from '@partner-network/common/text';
import { findPersonalData } from '../../ingest/personal-data.ts';

export const standardInput = '-';

/** The name of the file without its folder, for the audit log, which must not have personal data. */
export function sourceName(file: string): string {
  if (file === standardInput) return 'standard input';
  const name = maskSecrets(printable(basename(file)));
  // Without the ending, too: jane@example.com.jsonl looks like a file name.
  const isPersonal = [name, parse(name).name].some((text) => findPersonalData(text) !== undefined);
  return isPersonal ? '[personal data]' : name;
}

/** The bytes of a file. After a stop, it yields the bytes that were already read, and then fails. */
export async function* bytesOf(
  file: string,
  { taken, stop }: { taken?(chunk: Uint8Array): void; stop?: AbortSignal } = {},
): AsyncGenerator<Uint8Array> {
  stop?.throwIfAborted();
  const highWaterMark = ingestBounds.importReadBytes;
  const stream = file === standardInput ? process.stdin : createReadStream(file, { highWaterMark });
  let rest: Uint8Array | null = null;
  // These bytes have left the pipe: no later reader can get them.
  const onStop = () => {
    rest = stream.read();
    stream.destroy(stop!.reason);
  };
  stop?.addEventListener('abort', onStop);
  try {
    for await (const chunk of stream) {
      taken?.(chunk);
      yield chunk;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (rest !== null) yield rest;
    if (code === undefined || stop?.aborted) throw error;
    throw cannotRead(file, error);
  } finally {
    stop?.removeEventListener('abort', onStop);
  }
}

function cannotRead(file: string, error: unknown): OperatorError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: 'the file does not exist. Check the path',
    EISDIR: 'it is a folder. Name a file',
    EACCES: 'this user may not read it. Change its permissions',
  };
  return new OperatorError(`Cannot read ${file}: ${known[code] ?? message}.`, { cause: error });
}

/** Copies an input that can be read only once into a temporary file, which `opened` removes. */
export async function spooled(
  file: string,
  opened: AsyncDisposableStack,
  stop: AbortSignal,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-network-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const copy = join(folder, 'input');
  const copying = pipeline(bytesOf(file, { stop }), createWriteStream(copy, { mode: 0o600 }));
  // A named pipe that is open but silent does not end with the stop.
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  stop.addEventListener('abort', () => reject(stop.reason));
  await Promise.race([copying, stopped]);
  return copy;
}

/** The size of a file; undefined for a pipe. Throws if it does not exist, so that nothing creates it. */
export async function sizeOf(file: string): Promise<number | undefined> {
  if (file === standardInput) return undefined;
  const stats = await stat(file).catch((error) => {
    throw cannotRead(file, error);
  });
  return stats.isFile() ? stats.size : undefined;
}
