import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ErrorRecord } from '@partner-network/contract/errors';
import { basePath } from '@partner-network/contract/operations';
import { assertDocumented } from './documented.ts';
import { keepExchange, keepSent } from './watch-logs.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface CallOptions {
  readonly key?: string | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface Caller {
  /** Calls any path exactly as it is written, and holds the answer against the contract. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  brands(query?: string, options?: CallOptions): Promise<Answer>;
  balances(query?: string, options?: CallOptions): Promise<Answer>;
  /** Writes bytes to a socket and resolves to all that comes back until the service closes it. */
  raw(bytes: string | Uint8Array): Promise<string>;
  /** The same, but says at once that nothing more will come. */
  rawAndEnd(bytes: string | Uint8Array): Promise<string>;
  disconnect(): void;
}

/** What is served besides the two operations: files that the document does not tell of. */
const servedFiles = /^\/(?:assets|docs|network\/v1\/openapi\.json)\b/;

export function createCaller(port: number): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  function call(path: string, { key, method = 'GET', headers = {} }: CallOptions = {}): Promise<Answer> {
    const authorization = key === undefined ? {} : { Authorization: `Bearer ${key}` };
    const sent = { ...authorization, ...headers };
    keepSent(JSON.stringify(sent));
    return new Promise((resolve, reject) => {
      request({ agent, port, host: '127.0.0.1', path, method, headers: sent })
        .on('error', reject)
        .on('response', async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          const text = Buffer.concat(chunks).toString();
          keepExchange(path, text);
          const answer = { status: response.statusCode ?? 0, headers: response.headers, text };
          try {
            assertContract(answer, method, path);
            resolve(answer);
          } catch (error) {
            reject(error);
          }
        })
        .end();
    });
  }

  return {
    call,
    brands: (query = '', options) => call(`${basePath}/brands${query}`, options),
    balances: (query = '', options) => call(`${basePath}/balances${query}`, options),
    raw: (bytes) => exchange(port, bytes, (socket) => socket.write(bytes)),
    rawAndEnd: (bytes) => exchange(port, bytes, (socket) => socket.end(bytes)),
    disconnect: () => agent.destroy(),
  };
}

function exchange(port: number, bytes: string | Uint8Array, send: (socket: Socket) => void): Promise<string> {
  keepSent(Buffer.from(bytes as Uint8Array).toString('latin1'));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => send(socket));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const received = Buffer.concat(chunks).toString();
      try {
        responsesIn(received);
        resolve(received);
      } catch (error) {
        reject(error);
      }
    });
  });
}

/** The responses in what a socket received, each of them as the document has it. */
export function responsesIn(received: string): Answer[] {
  return received
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== '')
    .map((part) => {
      const end = part.indexOf('\r\n\r\n');
      const [, ...lines] = part.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(': ');
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
        }),
      );
      const answer = { status: Number(part.slice(9, 12)), headers, text: part.slice(end + 4) };
      assertDocumented(answer, 'GET');
      return answer;
    });
}

/** Each response in what a socket received as its status and error codes. */
export function answersIn(received: string): string[] {
  return responsesIn(received).map(({ status, text }) => {
    const codes = status < 400 ? [] : JSON.parse(text).errors.map(({ code }: ErrorRecord) => code);
    return [status, ...codes].join(' ');
  });
}

/** What holds for every answer there is; files have no other rules than these. */
function assertContract(answer: Answer, method: string, path: string): void {
  const { status, headers } = answer;
  if (status >= 400 || !servedFiles.test(path)) {
    assertDocumented(answer, method, path);
    return;
  }
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['access-control-allow-origin'], undefined);
}

export function errorsOf({ text }: Answer): ErrorRecord[] {
  return JSON.parse(text).errors;
}

/** The answer has this status and exactly these codes, each with its field where it names one. */
export function assertRefused(answer: Answer, status: number, ...codes: (string | [string, string])[]): void {
  const found = errorsOf(answer).map(({ code, field }) => (field === undefined ? code : [code, field]));
  assert.deepEqual({ status: answer.status, errors: found }, { status, errors: codes });
}

/** The service cannot answer now, and says when to ask again. */
export function assertUnavailable(answer: Answer): void {
  assertRefused(answer, 503, 'SERVICE_UNAVAILABLE');
  assert.equal(answer.headers['retry-after'], '1');
}
