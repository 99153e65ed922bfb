import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ErrorRecord } from '@partner-network/contract/errors';
import { basePath } from '@partner-network/contract/operations';
import { balancesPageSchema, brandsPageSchema, errorBodySchema } from '@partner-network/contract/records';
import { Compile } from 'typebox/schema';

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

const schemas = {
  errors: Compile(errorBodySchema),
  brands: Compile(brandsPageSchema),
  balances: Compile(balancesPageSchema),
};

export function createCaller(port: number): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  function call(path: string, { key, method = 'GET', headers = {} }: CallOptions = {}): Promise<Answer> {
    const authorization = key === undefined ? {} : { Authorization: `Bearer ${key}` };
    return new Promise((resolve, reject) => {
      request({ agent, port, host: '127.0.0.1', path, method, headers: { ...authorization, ...headers } })
        .on('error', reject)
        .on('response', async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          const text = Buffer.concat(chunks).toString();
          const answer = { status: response.statusCode ?? 0, headers: response.headers, text };
          try {
            assertContract(answer, method);
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
    raw: (bytes) => exchange(port, (socket) => socket.write(bytes)),
    rawAndEnd: (bytes) => exchange(port, (socket) => socket.end(bytes)),
    disconnect: () => agent.destroy(),
  };
}

function exchange(port: number, send: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => send(socket));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
    socket.on('error', reject);
  });
}

/** The responses in what a socket received, each with its status and body. */
export function responsesIn(received: string): { status: number; body: string }[] {
  return received
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((part) => part !== '')
    .map((part) => {
      const end = part.indexOf('\r\n\r\n');
      const head = part.slice(0, end);
      assert.match(head, /\r\nx-request-id: [0-9a-f-]{36}/i);
      assert.match(head, /\r\nx-content-type-options: nosniff/i);
      return { status: Number(part.slice(9, 12)), body: part.slice(end + 4) };
    });
}

/** Each response in what a socket received as its status and error codes. */
export function answersIn(received: string): string[] {
  return responsesIn(received).map(({ status, body }) => {
    const codes = status < 400 ? [] : JSON.parse(body).errors.map(({ code }: ErrorRecord) => code);
    return [status, ...codes].join(' ');
  });
}

export function isErrorBody(body: unknown): boolean {
  return schemas.errors.Check(body);
}

/** What holds for every answer there is. */
function assertContract({ status, headers, text }: Answer, method: string): void {
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['access-control-allow-origin'], undefined);
  if (headers['content-type'] === 'image/png' || status === 204) return;
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-store');
  if (method === 'HEAD') {
    assert.equal(text, '');
    assert.ok(Number(headers['content-length']) > 0);
    return;
  }
  assert.equal(headers['content-length'], String(Buffer.byteLength(text)));
  const body = JSON.parse(text);
  if (status !== 200) {
    assert.ok(schemas.errors.Check(body), `not an error body: ${text}`);
    return;
  }
  const schema = 'brands' in body ? schemas.brands : schemas.balances;
  assert.ok(schema.Check(body), `not a page: ${text}`);
}

export function errorsOf({ text }: Answer): ErrorRecord[] {
  return JSON.parse(text).errors;
}

/** The answer has this status and exactly these codes, each with its field where it names one. */
export function assertRefused(answer: Answer, status: number, ...codes: (string | [string, string])[]): void {
  const found = errorsOf(answer).map(({ code, field }) => (field === undefined ? code : [code, field]));
  assert.deepEqual({ status: answer.status, errors: found }, { status, errors: codes });
}
