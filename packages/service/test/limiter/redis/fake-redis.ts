/** A Redis and a clock that a test controls. */
import { createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { listenOnAnyPort } from '../../../../testkit/servers/free-port.ts';

// The real one, before a test replaces it.
const { setTimeout: realTimeout } = globalThis;

/** Stops timers and the monotonic clock. Returns a function that lets time pass. */
export function stopClock(t: TestContext): (ms: number) => Promise<void> {
  let nowMs = 50_000;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => nowMs);
  return async (ms) => {
    const untilMs = nowMs + ms;
    while (nowMs < untilMs) {
      const stepMs = Math.min(20, untilMs - nowMs);
      nowMs += stepMs;
      t.mock.timers.tick(stepMs);
      await settle();
    }
  };
}

/**
 * Waits until replies have gone through the sockets of this process. It counts turns of the event loop: on
 * a busy machine a timer of a few milliseconds may fire before the sockets are read.
 */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) {
    await new Promise((resolve) => realTimeout(resolve, 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

type Command = 'heartbeat' | 'admit' | 'zrem';

/** Answers each command with `replies`. */
export async function startFakeRedis(t: TestContext) {
  const replies = { heartbeat: ':1', admit: '*3\r\n:1\r\n:9\r\n:1000000', zrem: ':1' };
  const received: Command[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let unsent: (() => void)[] | undefined;
  const server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', (data) => {
      for (const sent of String(data)
        .split(/^\*\d+\r\n/m)
        .slice(1)) {
        const command = sent.includes('zrem') ? 'zrem' : sent.includes(':instances') ? 'heartbeat' : 'admit';
        received.push(command);
        const reply = () => socket.write(`${replies[command]}\r\n`);
        if (unsent === undefined) reply();
        else unsent.push(reply);
      }
    });
  });
  return {
    url: `redis://127.0.0.1:${await listenOnAnyPort(t, server)}`,
    replies,
    /** The commands received so far. */
    received: received as readonly Command[],
    /** Number of connections accepted so far. */
    connections: () => connections,
    hangUp: () => {
      for (const socket of sockets) socket.destroy();
    },
    freeze: () => {
      unsent = [];
    },
    /** Sends the replies that are due. */
    thaw: () => {
      for (const reply of unsent ?? []) reply();
      unsent = undefined;
    },
  };
}
