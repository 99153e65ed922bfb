/** Sends requests to any deployment: paced, counted, bounded, and never to another address. */
import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Answer } from './case.ts';

export const sendBounds = {
  /** Milliseconds between two starts: 39 requests in any second. */
  paceMs: 26,
  requests: 999,
  requestsAtOnce: 150,
  /** Milliseconds for a whole answer, and for the run. */
  answerMs: 10_000,
  runMs: 900_000,
  headBytes: 64 * 1024,
  /** Bytes of one body, and of all. A page of 100 brands has 8 MB at most. */
  bodyBytes: 16 * 1024 * 1024,
  allBytes: 256 * 1024 * 1024,
  /** How often a request is sent again after a 429 or 503, and the longest wait for all repeats together. */
  repeats: 3,
  repeatWaitMs: 60_000,
  /** Requests in a row without an answer, after which the deployment counts as unreachable. */
  unanswered: 5,
};

/** Why the deployment cannot be tested, or not any further. */
export class Untestable extends Error {
  readonly reason: 'unreachable' | 'refused' | 'foreign' | 'exhausted';
  readonly answer: Answer | undefined;

  constructor(reason: Untestable['reason'], answer?: Answer) {
    super(reason);
    this.reason = reason;
    this.answer = answer;
  }
}

/** A request as it is sent, and as reports show it. */
export interface Outgoing extends Pick<Answer, 'request' | 'method' | 'path'> {
  readonly target: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
}

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
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true });
  const startedAt = performance.now();
  const spent = { requests: 0, bytes: 0, repeatWaitMs: 0, unanswered: 0 };
  let lastStart = startedAt - bounds.paceMs;
  let turn = Promise.resolve();

  /** Resolves when the next request may start. */
  function pace(requests = 1): Promise<void> {
    spent.requests += requests;
    const isSpent =
      spent.requests > bounds.requests ||
      spent.bytes > bounds.allBytes ||
      performance.now() - startedAt > bounds.runMs;
    if (isSpent) throw new Untestable('exhausted');
    turn = turn.then(async () => {
      // A timer may fire early.
      for (let waitMs = 1; waitMs > 0; await sleep(waitMs))
        waitMs = Math.max(Math.ceil(lastStart + bounds.paceMs - performance.now()), 0);
      lastStart = performance.now();
    });
    return turn;
  }

  function start({ method, target, headers }: Outgoing, connection: RequestOptions): ClientRequest {
    const all = ['Host', base.host, 'User-Agent', 'partner-network-conformance', ...headers];
    const options = { method, path: target, headers: all, maxHeaderSize: bounds.headBytes, ...connection };
    return isTls && 'agent' in connection
      ? requestHttps({ ...address, ...options })
      : requestHttp({ ...address, ...options });
  }

  /** Sends one request. Never rejects: a fault of the connection or of the answer is a result. */
  async function exchange(outgoing: Outgoing, connection: RequestOptions): Promise<Answer> {
    const answer = await new Promise<Answer>((resolve) => {
      const sentMs = performance.now();
      const chunks: Buffer[] = [];
      let bytes = 0;
      let response: IncomingMessage | undefined;
      const request = start(outgoing, connection);
      const timer = setTimeout(() => end('TIMEOUT'), bounds.answerMs);
      const end = (fault?: string) => {
        clearTimeout(timer);
        request.removeAllListeners('close');
        if (fault !== undefined) request.destroy();
        const isStale =
          response === undefined && request.reusedSocket && /ECONNRESET|EPIPE/.test(fault ?? '');
        resolve(answerOf(outgoing, sentMs, isStale ? 'STALE' : fault, response, Buffer.concat(chunks)));
      };
      request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.name));
      // A 101 response ends the connection with neither a response nor an error.
      request.on('close', () => end('ECONNRESET'));
      request.on('response', (incoming) => {
        response = incoming;
        incoming.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > bounds.bodyBytes) end('BODY_TOO_LONG');
          else chunks.push(chunk);
        });
        incoming.on('end', () => end());
        incoming.on('error', () => end('ECONNRESET'));
      });
      request.end();
    });
    spent.bytes += answer.body.length;
    return answer;
  }

  /** Sends a request, and again after a 429 or 503 or on a connection that the service just closed. */
  async function send(outgoing: Outgoing): Promise<Answer> {
    for (let repeats = 0; ; ) {
      await pace();
      const answer = await exchange(outgoing, { agent });
      if (answer.fault === 'STALE') continue;
      spent.unanswered = answer.status === 0 ? spent.unanswered + 1 : 0;
      if (spent.unanswered >= bounds.unanswered) throw new Untestable('unreachable', answer);
      const waitMs = waitAsked(answer);
      const isFinal = waitMs === undefined || spent.repeatWaitMs + waitMs > bounds.repeatWaitMs;
      if (isFinal || ++repeats > bounds.repeats) return answer;
      spent.repeatWaitMs += waitMs;
      await sleep(waitMs);
    }
  }

  /** Starts to open a connection. Its errors reach the request, or are found by `exchangeOn`. */
  const open = () => (isTls ? connectTls(address) : connect(address)).on('error', () => {});

  async function exchangeOn(socket: Socket, outgoing: Outgoing): Promise<Answer> {
    const error: NodeJS.ErrnoException | null = socket.errored;
    if (error !== null) return answerOf(outgoing, performance.now(), error.code ?? error.name);
    const answer = await exchange(outgoing, { createConnection: () => socket });
    socket.destroy();
    return answer;
  }

  /** Sends bytes that no HTTP library would send. */
  async function raw(bytes: Buffer, request: string): Promise<Answer> {
    await pace();
    const socket = open();
    socket.write(bytes);
    // Node reads the answer, as if it had sent this request, which goes nowhere.
    socket.write = () => true;
    const method = bytes.subarray(0, 5).toString() === 'HEAD ' ? 'HEAD' : 'GET';
    return exchangeOn(socket, { request, method, path: undefined, target: '/', headers: [] });
  }

  async function burst(outgoing: Outgoing, count: number): Promise<readonly Answer[]> {
    if (count > bounds.requestsAtOnce) throw new RangeError(`More than ${bounds.requestsAtOnce} at once.`);
    await pace(count);
    const signal = AbortSignal.timeout(bounds.answerMs);
    const sockets = Array.from({ length: count }, open);
    const event = isTls ? 'secureConnect' : 'connect';
    await Promise.allSettled(sockets.map((socket) => once(socket, event, { signal })));
    return Promise.all(sockets.map((socket) => exchangeOn(socket, outgoing)));
  }

  return { send, raw, burst, close: () => agent.destroy() };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function answerOf(
  { request, method, path }: Outgoing,
  sentMs: number,
  fault: string | undefined,
  response?: IncomingMessage,
  body = Buffer.alloc(0),
): Answer {
  const rawHeaders = response?.rawHeaders ?? [];
  const status = fault === undefined ? (response?.statusCode ?? 0) : 0;
  const header = (name: string) => {
    const isNamed = (_: string, index: number) =>
      index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name.toLowerCase();
    return rawHeaders.filter(isNamed).join(', ') || undefined;
  };
  return {
    ...{ request, method, path, status, fault, rawHeaders, header, body },
    ...{ sentMs, answeredMs: performance.now() },
    // Made again each time: all answers of a run are kept, and parsed JSON may take 20 times its bytes.
    get text() {
      return body.toString();
    },
    get json() {
      try {
        return JSON.parse(utf8.decode(body));
      } catch {
        return undefined;
      }
    },
  };
}

/** Milliseconds to wait before the request is sent again; undefined if the answer is final. */
function waitAsked({ status, header }: Answer): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const seconds = Number(header('Retry-After') ?? 1);
  const ms = Number(header('Retry-After-Ms') ?? seconds * 1_000);
  return Number.isNaN(ms) ? 1_000 : Math.max(ms, 0);
}
