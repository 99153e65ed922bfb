/** A proxy between the conformance command and a real service, which plants one bug. */
import { Agent, createServer, type IncomingMessage, request as startRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Lifetime } from '../../../../testkit/fixtures/lifetime.ts';
import { listenOnAnyPort } from '../../../../testkit/servers/free-port.ts';
import type { Supplied } from '../../../src/conformance/probe.ts';

/** A request as it is passed to the service. Names and values of headers alternate. */
export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  /** Of HTTP. */
  readonly version: string;
  readonly hasBody: boolean;
}

/** A response as it is passed to the client. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  /** Images are not UTF-8. */
  readonly encoding: 'utf8' | 'latin1';
  /** Written after the response, whatever HTTP says about it. */
  readonly afterwards?: string;
}

/** Sends a request to the service. */
type Service = (sent: Sent) => Promise<Reply>;

/** Answers a request in place of the service. It may use the keys that the conformance command has. */
export type Bug = (sent: Sent, service: Service, supplied: Supplied) => Promise<Reply>;

/** Bugs by their names, which begin with the case that must catch them. */
export type Bugs = Readonly<Record<string, Bug>>;

/** Starts a proxy. A bug gets every request that Node can parse; other bytes are passed on unchanged. */
export async function startBuggyProxy(
  t: Lifetime,
  targetPort: number,
  bug: Bug,
  supplied: Supplied,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  t.after(() => agent.destroy());
  const target = { agent, host: '127.0.0.1', port: targetPort };

  const service: Service = ({ method, target: path, headers }) =>
    new Promise((resolve, reject) => {
      startRequest({ ...target, method, path, headers: [...headers], setHost: false })
        .on('error', reject)
        .on('response', async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk);
          const encoding = response.headers['content-type']?.startsWith('image/') ? 'latin1' : 'utf8';
          const body = Buffer.concat(chunks).toString(encoding);
          resolve({ status: response.statusCode ?? 0, headers: response.rawHeaders, body, encoding });
        })
        .end();
    });

  const server = createServer({ maxHeaderSize: 1 << 20, requireHostHeader: false });
  server.on('request', async (request, response) => {
    const { method = '', url = '', socket } = request;
    try {
      const hasBody = headerIn(request.rawHeaders, 'content-length') !== undefined;
      const sent = {
        method,
        target: url,
        headers: headersOf(request),
        version: request.httpVersion,
        hasBody,
      };
      const reply = await bug(sent, service, supplied);
      const own = reply.headers.filter((_, at, all) => !hopByHop.test(all[at - (at % 2)]!));
      const body = Buffer.from(reply.body, reply.encoding);
      const length = ['Content-Length', `${body.length}`];
      const isSent = method !== 'HEAD' && reply.status !== 204;
      const headers = isSent ? [...without(own, 'content-length'), ...length] : own;
      response.sendDate = false;
      response.writeHead(reply.status, headers);
      response.end(isSent ? body : '', () => reply.afterwards && socket.write(reply.afterwards));
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
  // What Node cannot parse is sent to the service byte for byte.
  server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
    const far = connect(targetPort, '127.0.0.1', () => far.write(error.rawPacket ?? ''));
    far.on('error', () => socket.destroy()).pipe(socket as Socket);
  });
  return listenOnAnyPort(t, server);
}

/** The proxy decides about its own connection. */
const hopByHop = /^(?:connection|keep-alive|transfer-encoding)$/i;

/**
 * The body of a request is dropped, and with it the headers that announce one. Without User-Agent, the test
 * service does not compare its responses with the OpenAPI document, which would take half of the time.
 */
function headersOf({ rawHeaders }: IncomingMessage): string[] {
  const dropped = ['connection', 'content-length', 'transfer-encoding', 'expect', 'user-agent'];
  return dropped.reduce(without, rawHeaders);
}

/** The value of the first header of this name. */
export function headerIn(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? undefined : headers[at + 1];
}

/** The headers without those of a name, which is in lower case. */
export function without(headers: readonly string[], name: string): string[] {
  return headers.filter((_, at) => headers[at - (at % 2)]!.toLowerCase() !== name);
}

/** The headers with one value for a name. */
export function withHeader(headers: readonly string[], name: string, value: string): string[] {
  return [...without(headers, name.toLowerCase()), name, value];
}
