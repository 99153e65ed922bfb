/** A proxy between conformance cases and a real service, which plants one bug. */
import { Agent, createServer, request as startRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Lifetime } from '../../../testkit/fixtures/lifetime.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import type { Supplied } from '../../src/conformance/probe.ts';

/** A request as it is passed to the service. Names and values of headers alternate. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
}

/** A response as it is passed to the client. HEAD gets it without its body. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Written after the response, whatever HTTP says about it. */
  readonly afterwards?: string;
}

/** Answers a request in place of the service. It may use the keys that the conformance command has. */
export type Bug = (sent: Sent, service: (sent: Sent) => Promise<Reply>, supplied: Supplied) => Promise<Reply>;

/**
 * The proxy decides about both connections and drops the bodies of requests. Without User-Agent, the test
 * service does not compare its responses with the OpenAPI document, which would take half of the time.
 */
const notPassedOn = ['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'user-agent'];

/** Starts a proxy. A bug gets every request that Node can parse; other bytes are passed on unchanged. */
export async function startBuggyProxy(t: Lifetime, port: number, bug: Bug, supplied: Supplied) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  t.after(() => agent.destroy());

  const service = ({ method, target: path, headers }: Sent) =>
    new Promise<Reply>((resolve, reject) => {
      const asked = { method: method === 'HEAD' ? 'GET' : method, path, headers: [...headers] };
      startRequest({ ...asked, agent, host: '127.0.0.1', port, setHost: false })
        .on('error', reject)
        .on('response', async (response) => {
          const body = Buffer.concat(await response.toArray());
          resolve({ status: response.statusCode!, headers: response.rawHeaders, body });
        })
        .end();
    });

  const server = createServer({ maxHeaderSize: 1 << 20, requireHostHeader: false });
  server.on('request', async (request, response) => {
    const { method = '', url: target = '', rawHeaders, socket } = request;
    const sent = { method, target, headers: notPassedOn.reduce(without, rawHeaders) };
    const { status, headers, body, afterwards } = await bug(sent, service, supplied);
    const length = status === 204 ? [] : ['Content-Length', String(body.length)];
    response.sendDate = false;
    response.writeHead(status, [...notPassedOn.reduce(without, headers), ...length]);
    response.end(method === 'HEAD' ? '' : body, () => afterwards && socket.write(afterwards));
  });
  // What Node cannot parse is sent to the service byte for byte.
  server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
    const far = connect(port, '127.0.0.1', () => far.write(error.rawPacket ?? ''));
    far.on('error', () => socket.destroy()).pipe(socket as Socket);
  });
  return listenOnAnyPort(t, server);
}

/** The value of the first header of this name, which is in lower case. */
export function headerIn(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? undefined : headers[at + 1];
}

/** The headers without those of a name, which is in lower case. */
export function without(headers: readonly string[], name: string): string[] {
  return headers.filter((_, at) => headers[at - (at % 2)]!.toLowerCase() !== name);
}
