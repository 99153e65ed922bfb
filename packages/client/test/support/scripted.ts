import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A server that answers as the test says, for answers that the service never gives. */
export async function startScripted(
  t: TestContext,
  script: (url: URL, request: IncomingMessage) => ScriptedAnswer | object,
): Promise<{ baseUrl: string; targets: string[] }> {
  const targets: string[] = [];
  const server = createServer((request, response) => {
    targets.push(request.url!);
    const answer: ScriptedAnswer = script(new URL(request.url!, 'http://localhost'), request);
    const { status = 200, headers = {}, body = JSON.stringify(answer) } = answer;
    response.writeHead(status, headers).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/network/v1`, targets };
}
