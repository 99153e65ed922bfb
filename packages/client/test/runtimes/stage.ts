/**
 * Where the scenario is played: a real sandbox, and a server in front of it. That server also has a path that
 * never answers, and the files of a page: the service allows no requests from another origin.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import { demoKeys } from '../../../operator/src/demo/data.ts';
import { spawnCommand } from '../../../testkit/fixtures/run.ts';
import { assertDocumented } from '../../../testkit/watch/documented.ts';

/** Files by path: a page if the path ends in .html, otherwise JavaScript. */
export type Files = Readonly<Record<string, string>>;

export async function startStage(files: Files = {}) {
  const data = mkdtempSync(join(tmpdir(), 'partner-network-stage-'));
  const sandbox = spawnCommand(['sandbox', '--port', '0', '--admin-port', '0', '--data', data]);
  sandbox.stderr.pipe(process.stderr);
  const ended = once(sandbox, 'exit');
  const sandboxPort = await announcedPort(sandbox);
  const front = createServer((request, response) => {
    const file = files[request.url ?? ''];
    if (file !== undefined) return send(request.url!, file, response);
    if (request.url?.startsWith('/network/v1/')) forward(sandboxPort, request, response);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const origin = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  return {
    /** The address of the sandbox itself. */
    sandbox: `http://127.0.0.1:${sandboxPort}`,
    origin,
    baseUrl: `${origin}/network/v1`,
    silentUrl: `${origin}/silent/network/v1`,
    apiKey: demoKeys[0].text,
    close: async () => {
      front.closeAllConnections();
      front.close();
      sandbox.kill('SIGINT');
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

async function announcedPort(sandbox: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: sandbox.stdout! })) {
    const [, port] = /Base URL .*:(\d+)\//.exec(line) ?? [];
    if (port !== undefined) return Number(port);
  }
  throw new Error('The sandbox ended before it listened.');
}

/** Forwards a request, and compares the answer with the OpenAPI document. */
function forward(port: number, request: IncomingMessage, response: ServerResponse): void {
  const { method = '', url, headers } = request;
  httpRequest({ port, host: '127.0.0.1', method, path: url, headers }, async (answer) => {
    const status = answer.statusCode!;
    const text = await textOf(answer);
    assertDocumented({ status, headers: answer.headers, text }, method, url);
    response.writeHead(status, answer.headers).end(text);
  })
    .on('error', () => response.destroy())
    .end();
}

function send(path: string, text: string, response: ServerResponse): void {
  const type = path.endsWith('.html') ? 'text/html' : 'text/javascript';
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text);
}
