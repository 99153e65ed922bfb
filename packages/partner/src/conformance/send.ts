/** Sends requests to a deployment: paced, counted, bounded, and never to another address. */
import { once } from 'node:events';
import { type IncomingMessage, request as startRequest } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

export const sendBounds = {
  /** Milliseconds between two starts: 39 requests in any second. */
  paceMs: 26,
  requests: 999,
  answerMs: 10_000,
  runMs: 900_000,
  headBytes: 64 * 1024,
  /** A page of 100 brands has 8 MB at most. All bodies of a run are kept. */
  bodyBytes: 10 * 1024 * 1024,
  allBytes: 128 * 1024 * 1024,
  /** How often a request is sent again after a 429 or 503, and the longest wait for that. */
  repeats: 3,
  waitMs: 10_000,
  /** Requests in a row without an answer, after which the deployment counts as unreachable. */
  unanswered: 5,
};

export type Answer = Awaited<ReturnType<typeof exchange>>;

/**
 * A broken promise. The message completes "Expected …" in reports, so it must not repeat anything that the
 * service sent. The cause is the answer that breaks the promise.
 */
export class Failure extends Error {
  declare readonly cause: Answer;
}

/** Ends a case that this run cannot show. Its message is a variable or a flag, or says what is missing. */
export class Skip extends Error {}

/** The deployment cannot be tested. The cause is an answer, or absent if the bounds are spent. */
export class Untestable extends Error {
  declare readonly cause: Answer | undefined;
}

/** The sender takes requests as text; each character is one byte. `path` becomes the path of the answer. */
export function createSender(base: URL, bounds = sendBounds) {
  const isTls = base.protocol === 'https:';
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const address = {
    host,
    port: Number(base.port) || (isTls ? 443 : 80),
    servername: isIP(host) ? '' : host,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    rejectUnauthorized: true,
  };
  const endMs = performance.now() + bounds.runMs;
  const spent = { requests: 0, bytes: 0, unanswered: 0 };
  let nextMs = 0;
  let turn = Promise.resolve();

  /** Resolves when the next request may start. */
  function pace(requests = 1): Promise<void> {
    spent.requests += requests;
    if (spent.requests > bounds.requests || spent.bytes > bounds.allBytes || performance.now() > endMs)
      throw new Untestable();
    turn = turn.then(async () => {
      await sleep(Math.max(Math.ceil(nextMs - performance.now()), 0));
      nextMs = performance.now() + bounds.paceMs;
    });
    return turn;
  }

  /** Starts to open a connection. Its errors are found later. */
  const open = () => (isTls ? connectTls(address) : connect(address)).on('error', () => {});

  /** Sends a request, and again after a 429 or 503. */
  async function send(text: string, path?: string) {
    for (let repeats = 0; ; repeats += 1) {
      await pace();
      const answer = await exchange(open(), text, path, bounds);
      spent.bytes += answer.body.length;
      // A deployment may close the connection of a raw request that it does not understand.
      if (path !== undefined) spent.unanswered = answer.status === 0 ? spent.unanswered + 1 : 0;
      if (spent.unanswered >= bounds.unanswered) throw new Untestable('', { cause: answer });
      const isBusy = answer.status === 429 || answer.status === 503;
      const waitMs = waitAsked(answer);
      if (!isBusy || waitMs > bounds.waitMs || repeats === bounds.repeats) return answer;
      await sleep(waitMs);
    }
  }

  /** Sends a request many times at once, when all connections are open. */
  async function burst(count: number, text: string, path?: string) {
    await pace(count);
    const signal = AbortSignal.timeout(bounds.answerMs);
    const sockets = Array.from({ length: count }, open);
    const event = isTls ? 'secureConnect' : 'connect';
    await Promise.allSettled(sockets.map((socket) => once(socket, event, { signal })));
    const answers = await Promise.all(sockets.map((socket) => exchange(socket, text, path, bounds)));
    for (const { body } of answers) spent.bytes += body.length;
    return answers;
  }

  return { send, burst };
}

/** Sends a request on a new connection, and closes it. Never rejects: a failure is a result. */
async function exchange(socket: Socket, text: string, path: string | undefined, bounds: typeof sendBounds) {
  const sentMs = performance.now();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let response: IncomingMessage | undefined;
  const failure = await new Promise<string | undefined>((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name);
    if (socket.errored) return failed(socket.errored);
    setTimeout(resolve, bounds.answerMs, 'TIMEOUT').unref();
    socket.write(text, 'latin1');
    // Node reads the answer as if it had sent a request of its own, which goes nowhere.
    socket.write = () => true;
    const method = text.startsWith('HEAD ') ? 'HEAD' : 'GET';
    startRequest({ method, maxHeaderSize: bounds.headBytes, createConnection: () => socket })
      .on('error', failed)
      // After a 101 response, Node emits `close` without `response` and `error`.
      .on('close', () => resolve('ECONNRESET'))
      .on('response', (incoming) => {
        response = incoming;
        incoming.on('error', failed).on('end', () => resolve(undefined));
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes > bounds.bodyBytes) resolve('BODY_TOO_LONG');
        });
      })
      .end();
  });
  socket.destroy();
  const body = Buffer.concat(chunks);
  return {
    /** The request with its key. Reports show it without values. */
    sent: text,
    /** Relative to the base URL, such as `/brands`, without its query; undefined for raw requests. */
    path,
    sentMs,
    answeredMs: performance.now(),
    /** 0 if no whole answer came; `failure` then says why: ECONNRESET, TIMEOUT, BODY_TOO_LONG. */
    status: failure === undefined ? (response?.statusCode ?? 0) : 0,
    failure,
    /** Names and values alternate. */
    rawHeaders: response?.rawHeaders ?? [],
    header: (name: string) => response?.headersDistinct[name.toLowerCase()]?.join(', '),
    body,
    // Made again each time: all answers of a run are kept, and parsed JSON may take 20 times its bytes.
    get text() {
      return body.toString();
    },
    get json() {
      return parsed(body);
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** A page of 100 brands has a few thousand. A million empty records would take gigabytes. */
const mostCommas = 50_000;

function parsed(body: Buffer): unknown {
  try {
    const text = utf8.decode(body);
    return text.split(',', mostCommas).length < mostCommas ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Milliseconds to wait before the request is sent again. */
function waitAsked({ header }: Pick<Answer, 'header'>): number {
  const ms = Number(header('Retry-After-Ms') ?? Number(header('Retry-After') ?? 1) * 1_000);
  return Number.isNaN(ms) ? 1_000 : Math.max(ms, 0);
}
