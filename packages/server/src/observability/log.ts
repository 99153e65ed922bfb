import { writeSync } from 'node:fs';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { type DestinationStream, type Logger, pino } from 'pino';
import { observabilityBounds } from '../bounds/observability.ts';

export function createLog(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino({ level, serializers: { err: (fault) => toldFault(fault) } }, destination);
}

/**
 * The lines of one turn of the event loop in one piece, because to write one takes as long as to make it. A
 * piece is no longer than a pipe takes at once: workers that share one do not cut each other's lines. Where
 * nobody reads, so many wait, and those after them are lost: a service without a log is better than none.
 */
function standardOutput(): DestinationStream {
  const { logPieceBytes: maxWrite, logWaitingCharacters: maxLength } = observabilityBounds;
  const output = pino.destination({ dest: 1, sync: false, maxWrite, maxLength });
  let piece = '';
  const pass = () => {
    output.write(piece);
    piece = '';
  };
  // The library has written by then what it has.
  process.on('exit', () => writeAtExit(piece));
  return {
    write(line) {
      if (piece.length + line.length > maxWrite) pass();
      if (piece === '') setImmediate(pass);
      piece += line;
    },
  };
}

/** Once: whoever has closed the other end does not keep the process from ending. */
function writeAtExit(piece: string): void {
  try {
    writeSync(1, piece);
  } catch {
    // There is nowhere left to tell.
  }
}

interface ToldFault {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number | undefined;
  readonly stack?: string | undefined;
  readonly cause?: ToldFault | undefined;
}

/**
 * What the log tells of a fault. The library would copy all fields of an error, and a driver's can hold a row
 * (`detail`), a statement or its values.
 */
function toldFault(fault: unknown, depth = 0): ToldFault {
  if (!(fault instanceof Error)) return { type: typeof fault, message: 'not an error' };
  const { message, stack, cause, code } = fault as Error & { readonly code?: unknown };
  return {
    type: fault.constructor.name,
    message: withoutSecrets(message),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    stack: stack && withoutSecrets(stack),
    // An error can be its own cause.
    ...(cause instanceof Error && depth < 5 && { cause: toldFault(cause, depth + 1) }),
  };
}

/** What follows a key's prefix, and the user and password of a URL: a library may put them into a message. */
const secrets = new RegExp(`(?<=${keyPrefixPattern})[0-9A-Za-z]+|(?<=://)[^\\s/]*(?=@)`, 'g');

function withoutSecrets(text: string): string {
  return text.replaceAll(secrets, '…');
}
