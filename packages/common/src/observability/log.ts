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

interface FailureLogOptions {
  /** Failures that are over within this time are not logged. */
  readonly graceMs?: number;
  /** Milliseconds between two lines about failures that go on; only one line if absent. */
  readonly remindMs?: number;
  /** Milliseconds without a failure after which it is over. If absent, only `recovered` ends it. */
  readonly quietMs?: number;
  /** Writes the last line, after `quietMs`. */
  readonly ended?: (counted: Counted) => void;
  readonly nowMs?: () => number;
}

interface Counted {
  readonly requests: number;
  readonly duration_ms: number;
}

export type FailureLog = ReturnType<typeof createFailureLog>;

/**
 * Logs the beginning and the end of repeated failures: a line for each would cost as much as its 503, and
 * hide the lines that matter. Another cause gets a line, too.
 */
export function createFailureLog({
  graceMs = 0,
  remindMs = Number.POSITIVE_INFINITY,
  quietMs,
  ended = () => {},
  nowMs = () => performance.now(),
}: FailureLogOptions = {}) {
  let failures = 0;
  let startedMs = 0;
  let latestMs = 0;
  let writtenMs = 0;
  /** The causes that were logged. A cause may contain a number that is different each time. */
  const causes = new Set<string>();

  function watchForEnd(ms: number): void {
    setTimeout(() => {
      if (nowMs() - latestMs < ms) watchForEnd(ms);
      else recovered(ended);
    }, ms).unref();
  }

  /** Ends the failures. Calls `write` if one of them was logged. */
  function recovered(write: (counted: Counted) => void): void {
    const counted = { requests: failures, duration_ms: Math.round(latestMs - startedMs) };
    failures = 0;
    if (causes.size > 0) write(counted);
    causes.clear();
  }

  return {
    /** Reports a failure. Calls `write` if it has to be logged. */
    failed(write: () => void, cause = ''): void {
      latestMs = nowMs();
      failures += 1;
      if (failures === 1) {
        startedMs = latestMs;
        if (quietMs !== undefined) watchForEnd(quietMs);
      }
      if (latestMs - startedMs < graceMs) return;
      const isNew = !causes.has(cause) && causes.size < observabilityBounds.failuresCauses;
      if (!isNew && latestMs - writtenMs < remindMs) return;
      causes.add(cause);
      writtenMs = latestMs;
      write();
    },
    recovered,
  };
}

const outages = new WeakMap<Logger, FailureLog>();

/** For requests that a lost database fails: each cause is logged once. */
export function outageOf(log: Logger): FailureLog {
  let outage = outages.get(log);
  if (outage === undefined) {
    const { failuresQuietMs: quietMs, failuresRemindMs: remindMs } = observabilityBounds;
    const what = `no request has failed for ${quietMs / 1_000} s`;
    outage = createFailureLog({ quietMs, remindMs, ended: (counted) => log.warn(counted, what) });
    outages.set(log, outage);
  }
  return outage;
}
