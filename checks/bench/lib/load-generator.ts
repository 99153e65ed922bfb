/** The process of the load generator: plays the rounds that it is sent as messages. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { cpuSecondsOf } from './cpu.ts';
import type { Played, Request, Round } from './load.ts';

const tickMs = 1;
/** Answers that arrive this long after the end of a round are still recorded. */
const lateMs = 3_000;
/** Connections opened at once: with a full backlog the kernel waits a second before it retries. */
const openedAtOnce = 100;

function bytesOf({ path, key }: Request): Buffer {
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}\r\n`);
}

type Connection = Awaited<ReturnType<typeof openConnection>>;

const nothing: Buffer = Buffer.alloc(0);

/**
 * An HTTP client with little overhead: raw bytes on a socket, one request at a time. Connects, and connects
 * again after an answer with "Connection: close", which the service sends after 1,000 requests. `onLost` is
 * called if the connection fails otherwise.
 */
async function openConnection(port: number, onLost: (fault: Error) => void) {
  let onAnswer: ((status: string) => void) | undefined;
  let head = nothing;
  let status = '';
  let isLast = false;
  /** Bytes of the answer still to come; undefined until its head is complete. */
  let missing: number | undefined;
  let socket = dial();
  await once(socket, 'connect');

  function dial(): Socket {
    return connect({ port, host: '127.0.0.1', noDelay: true })
      .on('data', read)
      .on('error', onLost)
      .on('end', () => onLost(new Error('The service closed a connection.')));
  }

  function read(chunk: Buffer): void {
    let arrived = chunk;
    if (missing === undefined) {
      arrived = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const end = arrived.indexOf('\r\n\r\n');
      head = end === -1 ? arrived : nothing;
      if (end === -1) return;
      const text = arrived.toString('latin1', 0, end);
      status = text.slice(9, 12);
      isLast = text.includes('\r\nConnection: close');
      missing = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
    }
    missing -= arrived.length;
    if (missing > 0) return;
    missing = undefined;
    if (isLast) {
      socket.destroy();
      socket = dial();
    }
    const answered = onAnswer;
    onAnswer = undefined;
    answered?.(status);
  }

  return {
    /** Calls back with the status when the whole answer has arrived. */
    send: (request: Buffer, answered: (status: string) => void) => {
      onAnswer = answered;
      socket.write(request);
    },
    get isBusy() {
      return onAnswer !== undefined;
    },
    close: () => void socket.destroy(),
  };
}

async function play(
  { pid, seconds, requests, perSecond }: Round,
  connections: readonly Connection[],
): Promise<Played> {
  const texts = requests.map(bytesOf);
  const played: Played = { sent: 0, unsent: 0, seconds: 0, cpuSeconds: 0, answers: {} };
  const idle = [...connections];

  function send(connection: Connection): void {
    const sentMs = performance.now();
    connection.send(texts[played.sent % texts.length]!, (status) => {
      const atMs = performance.now();
      played.answers[status] ??= [];
      played.answers[status].push({ atMs, tookMs: atMs - sentMs });
      if (perSecond !== undefined) idle.push(connection);
      else if (atMs < endMs) send(connection);
    });
    played.sent += 1;
  }

  // Clients keep their connections: what the service takes to accept one is not a part of an answer.
  if (perSecond !== undefined) {
    const opened = ({ send }: Connection) => new Promise((resolve) => send(texts[0]!, resolve));
    await Promise.all(connections.map(opened));
  }
  const cpuBefore = cpuSecondsOf(pid);
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1_000;
  if (perSecond === undefined) {
    for (const connection of connections) send(connection);
    await wait(seconds * 1_000);
  } else {
    await atRate(perSecond, endMs, () => {
      const connection = idle.shift();
      if (connection === undefined) played.unsent += 1;
      else send(connection);
    });
  }
  played.cpuSeconds = cpuSecondsOf(pid) - cpuBefore;
  played.seconds = (performance.now() - startedMs) / 1_000;
  while (connections.some(({ isBusy }) => isBusy) && performance.now() < endMs + lateMs) await wait(5);
  return played;
}

/** Intervals are random (exponential), as those of many independent clients are. */
async function atRate(perSecond: number, endMs: number, send: () => void): Promise<void> {
  let dueMs = performance.now();
  for (let now = dueMs; now < endMs; now = performance.now()) {
    for (; dueMs <= now; dueMs += (-Math.log(1 - Math.random()) * 1_000) / perSecond) send();
    await wait(tickMs);
  }
}

async function playRound(round: Round): Promise<Played> {
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  const connections: Connection[] = [];
  try {
    while (connections.length < round.connections) {
      const count = Math.min(openedAtOnce, round.connections - connections.length);
      const opened = Array.from({ length: count }, () => openConnection(round.port, lost.reject));
      connections.push(...(await Promise.all(opened)));
    }
    return await Promise.race([play(round, connections), lost.promise]);
  } finally {
    for (const connection of connections) connection.close();
  }
}

process.once('disconnect', () => process.exit());
process.on('message', async (round: Round) => {
  process.send!(await playRound(round).catch((fault: Error) => fault.message));
});
