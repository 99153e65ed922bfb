import { writeSync } from 'node:fs';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { type DestinationStream, type Logger, pino } from 'pino';
import { observabilityBounds } from '../bounds/common.ts';

export function createLog(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino({ level, serializers: { err: (error) => loggedError(error) } }, destination);
}

/**
 * Writes the lines of one event-loop turn at once: a write takes as long as making a line. A write is no
 * longer than a pipe takes as a whole, so that workers do not cut each other's lines. If the log is not read,
 * lines wait in memory up to a limit and further lines are lost: the service goes on.
 */
function standardOutput(): DestinationStream {
  const { logPieceBytes: maxWrite, logWaitingCharacters: maxLength } = observabilityBounds;
  const output = pino.destination({ dest: 1, sync: false, maxWrite, maxLength });
  let piece = '';
  const flush = () => {
    output.write(piece);
    piece = '';
  };
  // By then the library has written its own buffer. One attempt: a closed pipe must not delay the exit.
  process.on('exit', () => {
    try {
      writeSync(1, piece);
    } catch {}
  });
  return {
    write(line) {
      if (piece.length + line.length > maxWrite) flush();
      if (piece === '') setImmediate(flush);
      piece += line;
    },
  };
}

/** The logged fields of an error. The library would log all, and a driver's errors hold rows and values. */
function loggedError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an error' };
  const { message, stack, cause, code } = error as Error & { readonly code?: unknown };
  return {
    type: error.constructor.name,
    message: withoutSecrets(message),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    stack: stack && withoutSecrets(stack),
    // An error can be its own cause.
    ...(cause instanceof Error && depth < 5 && { cause: loggedError(cause, depth + 1) }),
  };
}

/** What follows a key's prefix, and the user and password of a URL: a library may put them into a message. */
const secrets = new RegExp(`(?<=${keyPrefixPattern})[0-9A-Za-z]+|(?<=://)[^\\s/]*(?=@)`, 'g');

function withoutSecrets(text: string): string {
  return text.replaceAll(secrets, '…');
}
