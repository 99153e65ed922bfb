/**
 * The attacker of the check `hostile`, in a separate process: opens connections and sends headers one byte
 * a second. Replaces each connection that the service closes. Arguments: port, number of connections.
 */
import { connect, type Socket } from 'node:net';

/** Reported once a second. */
export interface Attack {
  readonly open: number;
  readonly closed: number;
}

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
const openedPerMs = 5;
const reopenMs = 100;
const sockets = new Set<Socket>();
let closed = 0;

function open(): void {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\nX: '));
  sockets.add(socket.on('error', () => {}).resume());
  socket.once('close', () => {
    sockets.delete(socket);
    closed += 1;
    setTimeout(open, reopenMs);
  });
}

for (let number = 0; number < count; number += 1) setTimeout(open, number / openedPerMs);
setInterval(() => {
  const ready = [...sockets].filter(({ readyState }) => readyState === 'open');
  for (const socket of ready) socket.write('x');
  process.send?.({ open: ready.length, closed } satisfies Attack);
}, 1_000);
process.once('disconnect', () => process.exit());
