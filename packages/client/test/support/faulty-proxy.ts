import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';

/**
 * Starts a proxy on a raw socket. It applies the next fault to each request, and forwards the request if no
 * fault is left.
 */
export async function startFaultyProxy(t: TestContext, port: number, faults: Fault[]) {
  const sockets = new Set<Socket>();
  const targets: string[] = [];
  let connections = 0;

  const server = createServer((near) => {
    connections += 1;
    sockets.add(near.setNoDelay(true));
    near.on('close', () => sockets.delete(near)).on('error', () => {});
    let received = '';
    near.on('data', async (bytes) => {
      received += bytes.toString('latin1');
      if (!received.endsWith('\r\n\r\n')) return;
      const head = received;
      received = '';
      targets.push(head.split(' ')[1]!);
      await answer(near, head, faults.shift() ?? 'none', port).catch(() => near.destroy());
    });
  });
  const baseUrl = `http://127.0.0.1:${await listenOnAnyPort(t, server)}/network/v1`;
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  return {
    baseUrl,
    /** The targets of all requests, in order. */
    targets,
    /** The number of connections so far. */
    connections: () => connections,
    /** The number of open connections. */
    open: () => sockets.size,
  };
}

const html = '<html><body>Bad gateway</body></html>';

function message(head: string, body: string): string {
  return `HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const sending = (head: string, body: string) => (near: Socket) => near.write(message(head, body));

/** What the proxy does instead of forwarding the request. */
const ownFaults = {
  silence: () => {},
  'cut before the answer': (near) => near.destroy(),
  'reset before the answer': (near) => near.resetAndDestroy(),
  'key in the error': (near, head) => near.write(message('400 Bad Request', echoed(head))),
  'HTML 502': sending('502 Bad Gateway\r\ncontent-type: text/html', html),
  'empty 504': sending('504 Gateway Timeout', ''),
  '503 at once': sending('503 Service Unavailable\r\nretry-after: 0', html),
  redirect: sending('301 Moved Permanently\r\nlocation: http://localhost:9/elsewhere', ''),
  'HTML 200': sending('200 OK\r\ncontent-type: text/html', html),
} satisfies Record<string, (near: Socket, head: string) => unknown>;

/** What the proxy does with the answer of the service. */
const answerFaults = {
  none: (near, { bytes }) => near.write(bytes),
  'cut in the head': (near, { bytes, bodyAt }) => near.end(bytes.subarray(0, bodyAt / 2)),
  'cut in the body': (near, { bytes, middle }) => near.end(bytes.subarray(0, middle)),
  'silence in the body': (near, { bytes, middle }) => near.write(bytes.subarray(0, middle)),
  'shortened body': (near, { bytes, bodyAt, middle }) =>
    near.write(message('200 OK', bytes.toString('latin1', bodyAt, middle))),
  'broken JSON': (near, { bytes, bodyAt }) => near.write(bytes.fill('x', bodyAt, bodyAt + 1)),
  'broken UTF-8': (near, { bytes }) => {
    bytes[bytes.indexOf('"name":"') + 8] = 0xff;
    near.write(bytes);
  },
} satisfies Record<string, (near: Socket, answer: Awaited<ReturnType<typeof ask>>) => unknown>;

export type Fault = keyof typeof ownFaults | keyof typeof answerFaults;

async function answer(near: Socket, head: string, fault: Fault, port: number): Promise<void> {
  if (fault in ownFaults) ownFaults[fault as keyof typeof ownFaults](near, head);
  else await answerFaults[fault as keyof typeof answerFaults](near, await ask(port, head));
}

/** An error that repeats the key, as a debugging proxy might. */
function echoed(head: string): string {
  const key = /^authorization: Bearer (.*)$/im.exec(head)?.[1];
  return JSON.stringify({ errors: [{ category: 'X', code: 'ECHO', detail: `You sent ${key}.` }] });
}

/** The service's answer as bytes, the position of its body, and the middle of the body. */
async function ask(port: number, head: string) {
  const [first = '', ...lines] = head.trimEnd().split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
  const kept = headers.filter(([name]) => !/^(host|connection)$/i.test(name));
  const answer = await fetch(`http://127.0.0.1:${port}${first.split(' ')[1]}`, { headers: kept });
  const fields = [...answer.headers].filter(([name]) => !/^(connection|keep-alive)$/i.test(name));
  const status = `HTTP/1.1 ${answer.status} ${answer.statusText}`;
  const top = [status, ...fields.map((field) => field.join(': ')), '', ''].join('\r\n');
  const bytes = Buffer.concat([Buffer.from(top), Buffer.from(await answer.arrayBuffer())]);
  return { bytes, bodyAt: top.length, middle: Math.floor((top.length + bytes.length) / 2) };
}
