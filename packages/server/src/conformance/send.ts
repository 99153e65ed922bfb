/** Sends requests to any deployment: paced, counted, bounded, and never to another address. */
import { once } from 'node:events';
import {
  type ClientRequest,
  Agent as HttpAgent,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { Duplex, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Answer } from './case.ts';

/** Milliseconds between two starts: 39 requests in any second. */
const paceMs = 26;
const mostRequests = 999;
const mostAtOnce = 150;
/** Milliseconds for a whole answer. The decisions promise 2 s. */
const answerMs = 10_000;
/** A page of 100 brands has 8 MB at most. */
const mostBodyBytes = 16 * 1024 * 1024;
const mostHeadBytes = 64 * 1024;
/** How often a request is sent again after a 429 or 503, and the longest wait for all of them together. */
const mostRepeats = 3;
const mostWaitMs = 60_000;
/** Requests in a row without an answer, after which the deployment counts as lost. */
const mostUnanswered = 5;

/** Why the deployment cannot be tested any further. */
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
export interface Outgoing {
  readonly method: string;
  readonly path: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  /** What a case gave as path. */
  readonly asked: string | undefined;
  readonly shown: string;
  readonly repeats?: false | undefined;
}

export function createSender(base: URL) {
  const isTls = base.protocol === 'https:';
  const agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 8 });
  const address = {
    host: base.hostname.replace(/^\[|\]$/g, ''),
    port: Number(base.port) || (isTls ? 443 : 80),
  };
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
  const common: RequestOptions = {
    ...address,
    maxHeaderSize: mostHeadBytes,
    ...(isTls && { rejectUnauthorized: true }),
  };
  let sent = 0;
  let lastStart = Number.NEGATIVE_INFINITY;
  let turn = Promise.resolve();
  let waitLeftMs = mostWaitMs;
  let unanswered = 0;

  function count(requests: number): void {
    if (sent + requests > mostRequests) throw new Untestable('exhausted');
    sent += requests;
  }

  /** Resolves when the next request may start. */
  function pace(): Promise<void> {
    turn = turn.then(async () => {
      // A timer may fire early.
      for (let waitMs = 1; waitMs > 0; ) {
        waitMs = lastStart + paceMs - performance.now();
        if (waitMs > 0) await sleep(Math.ceil(waitMs));
      }
      lastStart = performance.now();
    });
    return turn;
  }

  function start(outgoing: Outgoing, connection: RequestOptions): ClientRequest {
    const { method, path, headers } = outgoing;
    const all = ['Host', base.host, 'User-Agent', 'partner-network-conformance', ...headers];
    return (isTls ? requestHttps : requestHttp)({ ...common, ...connection, method, path, headers: all });
  }

  async function open(): Promise<Socket> {
    const socket = isTls
      ? connectTls({ ...address, servername: /[a-z]$/i.test(address.host) ? address.host : '' })
      : connect(address);
    // Later errors reach the request.
    socket.on('error', () => {});
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(answerMs) });
    return socket;
  }

  /** Sends a request, and again after a 429 or 503 or on a connection that the service just closed. */
  async function send(outgoing: Outgoing): Promise<Answer> {
    let repeats = 0;
    for (;;) {
      count(1);
      await pace();
      const { isStale, ...answer } = await exchange(outgoing, () => start(outgoing, { agent }));
      if (isStale) continue;
      unanswered = answer.status === 0 ? unanswered + 1 : 0;
      if (unanswered >= mostUnanswered) throw new Untestable('unreachable', answer);
      const waitMs = waitAsked(answer);
      const mayRepeat = outgoing.repeats !== false && repeats < mostRepeats;
      if (waitMs === undefined || !mayRepeat || waitMs > waitLeftMs) return answer;
      repeats += 1;
      waitLeftMs -= waitMs;
      await sleep(waitMs);
    }
  }

  /** Sends bytes that no HTTP library would send. Node's parser reads the answer. */
  async function raw(bytes: Buffer, shown: string): Promise<Answer> {
    count(1);
    await pace();
    const method = bytes.subarray(0, 5).toString() === 'HEAD ' ? 'HEAD' : 'GET';
    const outgoing = { method, path: '/', headers: [], asked: undefined, shown };
    const socket = await open().catch((error: NodeJS.ErrnoException) => error);
    if (socket instanceof Error) return noAnswer(outgoing, socket);
    socket.write(bytes);
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const connection = Duplex.from({ readable: socket, writable: nowhere });
    const answer = await exchange(outgoing, () => start(outgoing, { createConnection: () => connection }));
    socket.destroy();
    return answer;
  }

  async function burst(outgoing: Outgoing, requests: number): Promise<readonly Answer[]> {
    if (requests > mostAtOnce) throw new RangeError(`A burst has at most ${mostAtOnce} requests.`);
    count(requests);
    await pace();
    const openings = Array.from({ length: requests }, () =>
      open().catch((error: NodeJS.ErrnoException) => error),
    );
    const sockets = await Promise.all(openings);
    const answers = await Promise.all(
      sockets.map((socket) =>
        socket instanceof Error
          ? noAnswer(outgoing, socket)
          : exchange(outgoing, () => start(outgoing, { createConnection: () => socket })),
      ),
    );
    for (const socket of sockets) if (!(socket instanceof Error)) socket.destroy();
    lastStart = performance.now();
    return answers;
  }

  return { send, raw, burst, close: () => agent.destroy(), sent: () => sent };
}

type Exchanged = Answer & { readonly isStale: boolean };

/** Sends one request. Never rejects: a fault of the connection or of the answer is a result. */
function exchange(outgoing: Outgoing, start: () => ClientRequest): Promise<Exchanged> {
  return new Promise((resolve) => {
    const sentMs = performance.now();
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let rawHeaders: readonly string[] = [];
    const request = start();
    const timer = setTimeout(() => end('TIMEOUT'), answerMs);

    function end(fault?: string): void {
      clearTimeout(timer);
      if (fault !== undefined) request.destroy();
      const isStale = status === 0 && request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(fault ?? '');
      resolve({ ...answerOf(outgoing, status, rawHeaders, Buffer.concat(chunks), sentMs, fault), isStale });
    }

    request.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.name));
    // A 101 response ends the connection with neither a response nor an error.
    request.on('close', () => end('ECONNRESET'));
    request.on('response', (response) => {
      status = response.statusCode!;
      rawHeaders = response.rawHeaders;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > mostBodyBytes) end('BODY_TOO_LONG');
        else chunks.push(chunk);
      });
      response.on('end', () => end());
      response.on('error', () => end('ECONNRESET'));
    });
    request.end();
  });
}

function noAnswer(outgoing: Outgoing, error: NodeJS.ErrnoException): Answer {
  const fault = error.name === 'AbortError' ? 'TIMEOUT' : (error.code ?? error.name);
  return answerOf(outgoing, 0, [], Buffer.alloc(0), performance.now(), fault);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function answerOf(
  { method, asked, shown }: Outgoing,
  status: number,
  rawHeaders: readonly string[],
  body: Buffer,
  sentMs: number,
  fault: string | undefined,
): Answer {
  return {
    request: shown,
    method,
    path: asked,
    status: fault === undefined ? status : 0,
    fault,
    sentMs,
    answeredMs: performance.now(),
    rawHeaders,
    header: (name) => {
      const isNamed = (_: string, index: number) =>
        index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name.toLowerCase();
      const values = rawHeaders.filter(isNamed);
      return values.length === 0 ? undefined : values.join(', ');
    },
    body,
    text: body.toString(),
    json: jsonOf(body),
  };
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** Milliseconds to wait before the request is sent again; undefined if the answer is final. */
function waitAsked({ status, header }: Answer): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const [ms, seconds] = ['Retry-After-Ms', 'Retry-After'].map((name) => Number(header(name) ?? Number.NaN));
  return Math.max(Number.isFinite(ms) ? ms! : Number.isFinite(seconds) ? seconds! * 1_000 : 1_000, 0);
}
