/** The process that makes load: raw bytes on sockets, one request at a time on each, at little cost. */
import { connect, type Socket } from 'node:net';
import { cpuSecondsOf } from '../lib/cpu.ts';
import type { Played, Round, Stream } from './load.ts';

interface Line {
  readonly socket: Socket;
  readonly request: Buffer;
  isIdle: boolean;
  sentMs: number;
  status: string;
  /** Bytes of the answer that are still to come; none is known of before its head is here. */
  missing: number | undefined;
}

const tickMs = 1;

function openLine(port: number, request: Buffer, onAnswer: (line: Line) => void): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(line));
    const line: Line = { socket, request, isIdle: true, sentMs: 0, status: '', missing: undefined };
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      if (line.missing === undefined) {
        const head = chunk.toString('latin1', 0, 1_024);
        line.status = head.slice(9, 12);
        const length = Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1]);
        line.missing = head.indexOf('\r\n\r\n') + 4 + length;
      }
      const missing: number = line.missing - chunk.length;
      line.missing = missing;
      if (missing > 0) return;
      line.missing = undefined;
      line.isIdle = true;
      onAnswer(line);
    });
  });
}

/** One stream of requests: as fast as answers come (no rate), or at a rate, whatever comes back. */
async function playStream({ port, pid }: Round, stream: Stream, untilMs: () => number): Promise<Played> {
  const requests = stream.keys.map((key) =>
    Buffer.from(`GET ${stream.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`),
  );
  const played: Played = { sent: 0, unsent: 0, seconds: 0, cpuSeconds: 0, answers: {} };
  const idle: Line[] = [];
  let isOn = false;

  function send(line: Line): void {
    line.isIdle = false;
    line.sentMs = performance.now();
    played.sent += 1;
    line.socket.write(line.request);
  }

  function onAnswer(line: Line): void {
    const now = performance.now();
    played.answers[line.status] ??= [];
    played.answers[line.status]!.push({ atMs: now, tookMs: now - line.sentMs });
    if (!isOn) return;
    if (stream.perSecond === undefined) send(line);
    else idle.push(line);
  }

  const lines: Line[] = [];
  // Few at a time: a full backlog makes the kernel wait a second before it tries again.
  while (lines.length < stream.connections) {
    const batch = Array.from({ length: Math.min(100, stream.connections - lines.length) }, (_, index) =>
      openLine(port, requests[(lines.length + index) % requests.length]!, onAnswer),
    );
    lines.push(...(await Promise.all(batch)));
  }
  await untilReady();
  const startedMs = performance.now();
  const cpuBefore = cpuSecondsIfTold(pid);
  isOn = true;
  if (stream.perSecond === undefined) for (const line of lines) send(line);
  else {
    idle.push(...lines);
    await sendAtRate(stream.perSecond, startedMs, untilMs(), () => {
      const line = idle.shift();
      if (line === undefined) played.unsent += 1;
      else send(line);
    });
  }
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, untilMs() - performance.now())));
  isOn = false;
  played.cpuSeconds = cpuSecondsIfTold(pid) - cpuBefore;
  played.seconds = (performance.now() - startedMs) / 1_000;
  // What comes later still shows how long it took.
  const patienceMs = performance.now() + 3_000;
  while (lines.some(({ isIdle }) => !isIdle) && performance.now() < patienceMs) await pause(5);
  for (const { socket } of lines) socket.destroy();
  return played;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Gaps between requests are random, as those of many callers are: an even beat would never meet another. */
async function sendAtRate(perSecond: number, startedMs: number, untilMs: number, send: () => void) {
  let dueMs = startedMs;
  for (;;) {
    const now = performance.now();
    if (now >= untilMs) return;
    for (; dueMs <= now; dueMs += (-Math.log(1 - Math.random()) * 1_000) / perSecond) send();
    await pause(tickMs);
  }
}

/** NaN where the system does not tell. */
function cpuSecondsIfTold(pid: number): number {
  try {
    return cpuSecondsOf(pid);
  } catch {
    return Number.NaN;
  }
}

let ready = Promise.withResolvers<void>();
let waiting = 0;
let expected = 0;

/** All streams of a round begin when the last of them has its connections. */
function untilReady(): Promise<void> {
  waiting += 1;
  if (waiting === expected) ready.resolve();
  return ready.promise;
}

// It does not outlive whoever started it.
process.once('disconnect', () => process.exit());
process.on('message', async (round: Round) => {
  const { seconds, streams } = round;
  ready = Promise.withResolvers<void>();
  [waiting, expected] = [0, streams.length];
  let endMs: number | undefined;
  const untilMs = () => (endMs ??= performance.now() + seconds * 1_000);
  process.send!(await Promise.all(streams.map((stream) => playStream(round, stream, untilMs))));
});
