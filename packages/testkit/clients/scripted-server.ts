/** A server that follows the scripts of scenarios. Each run of a scenario has its own base URL. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Lifetime } from '../fixtures/lifetime.ts';
import { listenOnAnyPort } from '../servers/free-port.ts';
import type { ScriptedAnswer, ScriptedFault } from './scenario.ts';

interface Request {
  readonly query: string;
  readonly authorization: string | undefined;
  readonly atMs: number;
  answeredMs: number;
}

export async function startScriptedServer(t: Lifetime) {
  const scripts = new Map<string, readonly ScriptedAnswer[]>();
  const requests = new Map<string, Request[]>();
  const server = createServer(async (request, response) => {
    response.sendDate = false;
    const [, name = ''] = request.url!.split('/');
    const seen = requests.get(name)!;
    const [path, query = ''] = request.url!.split('?');
    const { authorization } = request.headers;
    const entry = { query, authorization, atMs: performance.now(), answeredMs: 0 };
    const answer = scripts.get(name)?.[seen.push(entry) - 1];
    const isKnown = /^\/[^/]+\/network\/v1\/(brands|balances)$/.test(path!);
    // A request too many gets a status that no scenario expects.
    await respond(request, response, isKnown && answer !== undefined ? answer : { status: 421 });
    entry.answeredMs = performance.now();
  });
  const port = await listenOnAnyPort(t, server);
  t.after(() => server.closeAllConnections());
  return {
    /** Sets a script. Returns its base URL. */
    script: (name: string, answers: readonly ScriptedAnswer[]): string => {
      scripts.set(name, answers);
      requests.set(name, []);
      return `http://127.0.0.1:${port}/${name}/network/v1`;
    },
    requestsOf: (name: string): readonly Request[] => requests.get(name)!,
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, answer: ScriptedAnswer) {
  const { status = 200, headers = {}, body = '', fault } = answer;
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = Buffer.from(isText ? body : JSON.stringify(body));
  if (fault !== undefined) return await faults[fault](response, bytes, status, request);
  response.writeHead(status, { 'content-length': bytes.length, ...headers }).end(bytes);
}

type Fault = (response: ServerResponse, body: Buffer, status: number, request: IncomingMessage) => unknown;

/** Sends the head and half of the body. */
async function half(response: ServerResponse, body: Buffer, status: number): Promise<void> {
  response.writeHead(status, { 'content-length': body.length });
  await new Promise((resolve) => response.write(body.subarray(0, body.length / 2), resolve));
}

function* blanks() {
  for (const blank = Buffer.alloc(1_024 * 1_024, ' '); ; ) yield blank;
}

const faults: Record<ScriptedFault, Fault> = {
  'cut before the answer': ({ socket }) => socket!.destroy(),
  'reset before the answer': ({ socket }) => socket!.resetAndDestroy(),
  'cut in the head': ({ socket }) => socket!.end('HTTP/1.1 200 OK\r\ncontent-le'),
  'cut in the body': async (response, body, status) => {
    await half(response, body, status);
    response.socket!.end();
  },
  'cut in a chunk': ({ socket }, body) =>
    socket!.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n${body.subarray(0, 9)}`),
  'a chunk of a negative length': ({ socket }) =>
    socket!.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nabcde\r\n0\r\n\r\n'),
  'an endless chunk of a negative length': ({ socket }) => {
    socket!.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n');
    // Fails when the client closes the connection.
    return pipeline(blanks, socket!).catch(() => {});
  },
  'early hints': (response, body) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    response.writeHead(200, { 'content-length': body.length }).end(body);
  },
  'a slow answer': async (response, body, status) => {
    await wait(1_000);
    await half(response, body, status);
    await wait(1_000);
    response.end(body.subarray(body.length / 2));
  },
  silence: () => {},
  'silence in the body': half,
  'a byte at a time': async (response) => {
    response.writeHead(200);
    for (; !response.destroyed; await wait(100)) response.write(' ');
  },
  'endless body': (response) => {
    response.writeHead(200);
    // Fails when the client closes the connection.
    return pipeline(blanks, response).catch(() => {});
  },
  /** As a debugging proxy might. */
  'key in the error': (response, _body, _status, { headers: { authorization = '' } }) => {
    const key = authorization.replace('Bearer ', '');
    const escaped = `\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}`;
    const record = `{"code":"${escaped}","category":"${key}","detail":"${key}","${key}":"${escaped}"}`;
    response.writeHead(400, { 'x-request-id': `to ${key}`, 'retry-after': key });
    response.end(`{"errors":[${record}]}`);
  },
};
