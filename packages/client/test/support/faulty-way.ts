import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';

/** What the proxy does to one request. */
export type Fault =
  | 'none'
  | 'cut before the answer'
  | 'reset before the answer'
  | 'cut in the head'
  | 'cut in the body'
  | 'shortened body'
  | 'broken UTF-8'
  | 'broken JSON'
  | 'HTML 502'
  | 'empty 504'
  | '503 at once'
  | '503 in an hour'
  | 'silence'
  | 'silence in the body'
  | 'late'
  | 'late in the body'
  | 'redirect'
  | 'HTML 200'
  | 'key in the error';

/** The delay of a late answer, or of the rest of one. */
export const latenessMs = 300;

/** A proxy on a raw socket that does to each request what the test says. */
export interface FaultyWay {
  readonly baseUrl: string;
  /** The targets of all requests, in order. */
  readonly targets: string[];
  /** The number of connections so far, and of open ones. */
  connections(): number;
  open(): number;
}

/** Takes the next fault for each request; without one the request is forwarded. */
export async function startFaultyWay(t: TestContext, port: number, faults: Fault[]): Promise<FaultyWay> {
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port: ownPort } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${ownPort}/network/v1`;
  return { baseUrl, targets, connections: () => connections, open: () => sockets.size };
}

const html = '<html><body>Bad gateway</body></html>';

function message(head: string, body: string): string {
  return `HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The answers of the proxy itself. */
const ownAnswers: Partial<Record<Fault, string>> = {
  'HTML 502': message('502 Bad Gateway\r\ncontent-type: text/html', html),
  'empty 504': message('504 Gateway Timeout', ''),
  '503 at once': message('503 Service Unavailable\r\nretry-after: 0', html),
  '503 in an hour': message('503 Service Unavailable\r\nretry-after: 3600', html),
  redirect: message('301 Moved Permanently\r\nlocation: http://localhost:9/elsewhere', ''),
  'HTML 200': message('200 OK\r\ncontent-type: text/html', html),
};

async function answer(near: Socket, head: string, fault: Fault, port: number): Promise<void> {
  const own = ownAnswers[fault];
  if (own !== undefined) return void near.write(own);
  if (fault === 'silence') return;
  if (fault === 'cut before the answer') return void near.destroy();
  if (fault === 'reset before the answer') return void near.resetAndDestroy();
  if (fault === 'key in the error') return void near.write(message('400 Bad Request', echoed(head)));
  const { bytes, bodyAt } = await ask(port, head);
  const middle = Math.floor((bodyAt + bytes.length) / 2);
  if (fault === 'none') near.write(bytes);
  else if (fault === 'cut in the head') near.end(bytes.subarray(0, bodyAt / 2));
  else if (fault === 'cut in the body') near.end(bytes.subarray(0, middle));
  else if (fault === 'silence in the body') near.write(bytes.subarray(0, middle));
  else if (fault === 'late' || fault === 'late in the body') {
    const lateFrom = fault === 'late' ? 0 : middle;
    near.write(bytes.subarray(0, lateFrom));
    await wait(latenessMs);
    near.write(bytes.subarray(lateFrom));
  } else if (fault === 'shortened body') {
    near.write(message('200 OK', bytes.subarray(bodyAt, middle).toString('latin1')));
  } else {
    if (fault === 'broken JSON') bytes.write('x', bodyAt);
    else bytes[bytes.indexOf('"name":"') + 8] = 0xff;
    near.write(bytes);
  }
}

/** An error that repeats the key, as a debugging proxy might. */
function echoed(head: string): string {
  const key = /^authorization: Bearer (.*)$/im.exec(head)?.[1];
  return JSON.stringify({ errors: [{ category: 'X', code: 'ECHO', detail: `You sent ${key}.` }] });
}

/** The service's answer as bytes, and the position of its body. */
async function ask(port: number, head: string): Promise<{ bytes: Buffer; bodyAt: number }> {
  const [first = '', ...lines] = head.trimEnd().split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
  const kept = headers.filter(([name]) => !/^(host|connection)$/i.test(name));
  const answer = await fetch(`http://127.0.0.1:${port}${first.split(' ')[1]}`, { headers: kept });
  const fields = [...answer.headers].filter(([name]) => !/^(connection|keep-alive)$/i.test(name));
  const status = `HTTP/1.1 ${answer.status} ${answer.statusText}`;
  const top = [status, ...fields.map((field) => field.join(': ')), '', ''].join('\r\n');
  const body = Buffer.from(await answer.arrayBuffer());
  return { bytes: Buffer.concat([Buffer.from(top), body]), bodyAt: top.length };
}
