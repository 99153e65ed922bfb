#!/usr/bin/env node
/**
 * Sends a file of JSON Lines to the administrative service of Partner Network, in batches.
 *
 * Needs Node 24 and nothing else. The key comes from the variable INGEST_KEY.
 *
 *     node send-changes.ts balances changes.jsonl --url https://admin.example --gzip
 *
 * A batch that got no answer, or an answer that a repetition can change, is sent again until it succeeds: ids
 * and times of the lines make this safe. Anything else stops the program with a message.
 *
 * Exit status: 0 all lines are sent; 1 not all lines are sent; 2 the command line is wrong; 3 all lines are
 * sent, and some were rejected, which --rejected-file keeps.
 */
import { appendFileSync, createReadStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

const batchLines = 1_000;
const batchBytes = 8 * 1024 * 1024;
/** A batch that is not full waits this long for more lines. */
const batchMs = 1_000;
/** What the service does not count as a line. The mark, in latin1, is the byte order mark of a file. */
const blank = /^(\xef\xbb\xbf)?[ \t\r]*$/;
const repeated = [408, 429, 500, 502, 503, 504];
/** The service answers within 64 seconds. */
const answerMs = 90_000;
const firstWaitMs = 500;
const longestWaitMs = 30_000;
const countNames = ['read', 'written', 'unchanged', 'stale', 'deleted', 'rejected_count'] as const;

type Counts = Record<(typeof countNames)[number], number>;

interface LineError {
  readonly code: string;
  readonly detail: string;
  readonly field?: string;
  readonly line: number;
}

type Answer = Counts & { readonly errors?: readonly LineError[] };

interface Line {
  readonly number: number;
  readonly bytes: Buffer;
}

interface RejectedLine extends Line {
  readonly errors: readonly LineError[];
}

/** Why no more lines can be sent. */
class Stopped extends Error {}

/** An attempt whose batch must be sent again, and how long the service asks to wait. */
class Lost extends Error {
  readonly waitMs: number;

  constructor(message: string, waitMs = 0) {
    super(message);
    this.waitMs = waitMs;
  }
}

const say = (text: string) => process.stderr.write(`${text}\n`);

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string', default: 'http://127.0.0.1:8090' },
        'rejected-file': { type: 'string' },
        gzip: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        'give-up-after': { type: 'string', default: '900' },
      },
    });
    const [kind = '', file = '', ...others] = positionals;
    const key = process.env.INGEST_KEY?.trim() ?? '';
    if (!['brands', 'balances', 'grants'].includes(kind) || file === '' || others.length > 0) {
      throw new Error('Usage: send-changes.ts brands|balances|grants FILE|- [FLAGS]');
    }
    if (!/^pna_(live|test)_\w+$/.test(key))
      throw new Error('Set the variable INGEST_KEY to a key with the role INGEST.');
    const url = new URL(`${values.url.replace(/\/+$/, '')}/admin/v1/${kind}/batches`);
    url.searchParams.set('on_rejected', values['rejected-file'] === undefined ? 'stop' : 'skip');
    if (values['dry-run']) url.searchParams.set('dry_run', 'true');
    const giveUpAfterMs = Number(values['give-up-after']) * 1_000;
    return { ...values, file, key, endpoint: url, giveUpAfterMs };
  } catch (error) {
    say((error as Error).message);
    process.exit(2);
  }
}

const options = readOptions();
const skips = options['rejected-file'] !== undefined;
const headers = {
  authorization: `Bearer ${options.key}`,
  'content-type': 'application/x-ndjson',
  ...(options.gzip && { 'content-encoding': 'gzip' }),
};

/** Sends a batch until it is answered, and resolves to the answer. */
async function send(batch: readonly Line[]): Promise<Answer> {
  const plain = Buffer.concat(batch.flatMap(({ bytes }) => [bytes, Buffer.from('\n')]));
  const body = options.gzip ? gzipSync(plain) : plain;
  const endMs = performance.now() + options.giveUpAfterMs;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
    try {
      return await attempt(body, batch.length);
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      const pauseMs = Math.max(error.waitMs, waitMs * (0.5 + Math.random() / 2));
      if (performance.now() + pauseMs > endMs) {
        throw new Stopped(`${error.message} Gave up after ${options['give-up-after']} s.`);
      }
      say(`${error.message} Sending the batch again in ${(pauseMs / 1_000).toFixed(1)} s.`);
      await wait(pauseMs);
    }
  }
}

async function attempt(body: Buffer<ArrayBuffer>, count: number): Promise<Answer> {
  const request = {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(answerMs),
  };
  const lost = (error: Error) =>
    new Lost(`No answer (${(error.cause as Error | undefined)?.message || error}).`);
  const response = await fetch(options.endpoint, request as RequestInit).catch((error) => {
    throw lost(error);
  });
  const text = await response.text().catch((error) => {
    throw lost(error);
  });
  const { status } = response;
  const answer = readJson(text);
  if ([200, 207, 422].includes(status) && answer.read !== undefined) {
    if (answer.read !== count) throw new Stopped(`The service read ${answer.read} lines, not ${count}.`);
    return answer as Answer;
  }
  const requestId = response.headers.get('x-request-id');
  const named = requestId === null ? '' : ` (request ${requestId})`;
  const said = `The service answered ${status}${errorsOf(answer)}${named}.`;
  // A 200 without counts is not from the service, or was cut off.
  if (!repeated.includes(status) && status !== 200) throw new Stopped(said);
  const asked = response.headers.get('retry-after') ?? '';
  throw new Lost(said, /^\d+$/.test(asked) ? Number(asked) * 1_000 : 0);
}

function readJson(text: string): Partial<Answer> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function errorsOf({ errors = [] }: Partial<Answer>): string {
  const shown = errors.slice(0, 3).map(({ code, detail }) => `: ${code}: ${detail}`);
  return shown.join('').replace(/\.$/, '');
}

/** The lines of each chunk of the input, as bytes: the service checks whether they are UTF-8. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let rest = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of input) {
    const lines: Line[] = [];
    let start = 0;
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      number += 1;
      lines.push({ number, bytes: rest.subarray(start, end) });
      start = end + 1;
    }
    rest = rest.subarray(start);
    yield lines;
  }
  if (rest.length > 0) yield [{ number: number + 1, bytes: rest }];
}

/** Batches of lines, without blank lines. */
async function* batchesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  const chunks = linesOf(input);
  let batch: Line[] = [];
  let size = 0;
  let dueMs = 0;
  for (let next = chunks.next(); ; ) {
    // The input may break while a batch is sent. The error is thrown when the chunk is awaited.
    next.catch(() => {});
    const due = batch.length > 0 && wait(dueMs - performance.now(), undefined, { ref: false });
    const chunk = await (due ? Promise.race([next, due]) : next);
    if (chunk === undefined) {
      yield batch;
      batch = [];
      continue;
    }
    if (chunk.done) break;
    for (const line of chunk.value) {
      if (blank.test(line.bytes.toString('latin1'))) continue;
      if (batch.length > 0 && (batch.length === batchLines || size + line.bytes.length >= batchBytes)) {
        yield batch;
        batch = [];
      }
      if (batch.length === 0) [size, dueMs] = [0, performance.now() + batchMs];
      batch.push(line);
      size += line.bytes.length + 1;
    }
    next = chunks.next();
  }
  if (batch.length > 0) yield batch;
}

/** The rejected lines of a batch with their errors. An answer lists at most 1,000 errors. */
async function rejectedIn(batch: readonly Line[], answer: Answer): Promise<RejectedLine[]> {
  const errors = Map.groupBy(answer.errors ?? [], ({ line }) => line);
  if (skips && errors.size < answer.rejected_count && batch.length > 1) {
    // The valid lines are written, so that sending its halves again finds the others and changes nothing.
    const middle = Math.floor(batch.length / 2);
    const halves = [batch.slice(0, middle), batch.slice(middle)];
    const found: RejectedLine[] = [];
    for (const half of halves) found.push(...(await rejectedIn(half, await send(half))));
    return found;
  }
  return [...errors]
    .sort(([a], [b]) => a - b)
    .map(([line, found]) => ({ ...batch[line - 1]!, errors: found }));
}

/** Appends rejected lines, in the form of "import --rejected-file". Only this user can read them. */
function keep(path: string, rejected: readonly RejectedLine[]): void {
  const entries = rejected.map(({ number, bytes, errors }) => {
    const shown = errors.map(({ field, code, detail }) => ({ field, code, detail }));
    return `${JSON.stringify({ line: number, errors: shown, record: bytes.toString() })}\n`;
  });
  appendFileSync(path, entries.join(''), { mode: 0o600 });
}

async function sendAll(): Promise<number> {
  const total = Object.fromEntries(countNames.map((name) => [name, 0])) as Counts;
  const { file, 'rejected-file': rejectedFile } = options;
  const input = file === '-' ? process.stdin : createReadStream(file);
  let last = 0;
  try {
    for await (const batch of batchesOf(input)) {
      const answer = await send(batch);
      const rejected = answer.rejected_count > 0 ? await rejectedIn(batch, answer) : [];
      if (rejected.length > 0 && !skips) {
        for (const { number, errors } of rejected.slice(0, 20)) {
          say(
            errors
              .map(({ field, code, detail }) => `line ${number}: ${field ?? ''}: ${code}: ${detail}`)
              .join(' '),
          );
        }
        const count = answer.rejected_count;
        throw new Stopped(`Lines of the batch are rejected: ${count}. Nothing of it was written.`);
      }
      if (rejected.length > 0) keep(rejectedFile!, rejected);
      for (const name of countNames) total[name] += answer[name];
      last = batch.at(-1)!.number;
    }
    return total.rejected_count > 0 ? 3 : 0;
  } catch (error) {
    say(`${(error as Error).message} Lines up to ${last} were sent. Send all later lines again.`);
    return 1;
  } finally {
    // Open input would keep the program from its end.
    input.destroy();
    const shown = countNames.map((name) => `${total[name]} ${name.replace('_count', '')}`);
    process.stdout.write(`${shown.join(', ')}.\n`);
  }
}

process.exitCode = await sendAll();
