/**
 * The attacker of `npm run hostile`, in a process of its own so that only the service has to bear it: sends
 * the beginning of a request and then a byte a second on each connection, and begins anew where it is cut
 * off. Its words are the port and how many connections.
 */
import { connect, type Socket } from 'node:net';

/** What it tells once a second. */
export interface Attack {
  readonly open: number;
  readonly cutOff: number;
}

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const perMs = 5;
const pauseMs = 100;
const sockets = new Set<Socket>();
let cutOff = 0;

function begin(): void {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\nX: '));
  sockets.add(socket.on('error', () => {}).resume());
  socket.once('close', () => {
    sockets.delete(socket);
    cutOff += 1;
    setTimeout(begin, pauseMs);
  });
}

for (let number = 0; number < count; number += 1) setTimeout(begin, number / perMs);
setInterval(() => {
  let open = 0;
  for (const socket of sockets) {
    if (socket.readyState !== 'open') continue;
    open += 1;
    socket.write('x');
  }
  process.send?.({ open, cutOff } satisfies Attack);
}, 1_000);
// It does not outlive whoever started it.
process.once('disconnect', () => process.exit());
