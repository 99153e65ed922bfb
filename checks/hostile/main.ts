/** Holds thousands of slow connections open, and measures how a normal client is served meanwhile. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { openFileLimit } from '../../packages/common/src/process.ts';
import { fillFixture } from '../../packages/testkit/fixtures/fixture.ts';
import { commandLine, serve } from '../../packages/testkit/fixtures/run.ts';
import { megabytesOf } from '../bench/lib/cpu.ts';
import { median, ms, quantile } from '../bench/lib/statistics.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../lib/program.ts';
import { type Call, callForBrands, failuresText, startCallers, type Totals } from '../rolling/callers.ts';
import type { Attack } from './attack.ts';

const mostMs = 1_000;
const callsPerSecond = 50;
/** Files that the service and this program need beside the connections. */
const spareFiles = 500;

const about = `
Starts the service, and opens connections that send headers one byte a second and never finish. A connection
that the service closes is opened again. A normal client meanwhile requests ${callsPerSecond} pages a
second, half of them on one kept connection and half on new ones. Ends with status 1 if a request does not
get its page, or if p99 is above ${mostMs} ms.`;

function startAttack(port: number, connections: number): { latest(): Attack; stop(): Promise<void> } {
  const program = fileURLToPath(new URL('attack.ts', import.meta.url));
  const child = fork(program, [String(port), String(connections)]);
  const ended = once(child, 'exit');
  let latest: Attack = { open: 0, closed: 0 };
  child.on('message', (attack: Attack) => {
    latest = attack;
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  wholeRun.after(stop);
  return { latest: () => latest, stop };
}

/** The first caller keeps its connection; the second opens a new connection for each request. */
async function callFor(call: Call, seconds: number): Promise<Totals> {
  const callers = startCallers(call, 2, callsPerSecond, (caller) => caller === 1);
  await wait(seconds * 1_000);
  return callers.stop();
}

function textOf(name: string, totals: Totals): string {
  const { tookMs } = totals;
  const [middle, slow] = [ms(median(tookMs)), ms(quantile(tookMs, 0.99))];
  return `${name}: ${tookMs.length} requests, ${failuresText(totals)}; median ${middle}, p99 ${slow}.`;
}

async function measure(connections: number, seconds: number): Promise<boolean> {
  const { database, inside } = commandLine(wholeRun);
  await inside(fillFixture, 'sandbox');
  const service = await serve(wholeRun, [
    ...['--database', database, '--environment', 'sandbox', '--brands-rate', '0'],
    ...['--drain-delay', '0', '--log-level', 'warn'],
  ]);
  const call = await callForBrands(service.port);

  const before = await callFor(call, Math.min(seconds, 5));
  print(textOf('Alone', before));
  say(`Opening ${connections} connections.`);
  const attack = startAttack(service.port, connections);
  const meanwhile = await callFor(call, seconds + connections / 5_000);
  const { open, closed } = attack.latest();
  print(textOf('Meanwhile', meanwhile));
  const p99 = ({ tookMs }: Totals) => quantile(tookMs, 0.99);
  print(
    `${open} connections held open at the end, ${closed} closed by the service; ` +
      `the service takes ${megabytesOf(service.pid).now.toFixed(0)} MB; ` +
      `p99 ${(p99(meanwhile) / p99(before)).toFixed(1)} times the earlier one.`,
  );
  await attack.stop();
  service.signal('SIGTERM');
  await service.ended;
  const isMet = meanwhile.failures.size === 0 && p99(meanwhile) <= mostMs;
  print(isMet ? 'The normal client was served.' : 'The normal client was not served.');
  return isMet;
}

await runProgram({
  usage: 'npm run check -- hostile',
  about,
  options: {
    connections: withDefault(
      'N',
      wholeNumber(1, 999_999),
      5_000,
      'slow connections; above 10,000 the service closes idle ones',
    ),
    seconds: withDefault('N', wholeNumber(1, 999_999), 15, 'longer than the service waits for headers'),
  },
  missing: ({ connections }) => {
    const limit = openFileLimit() ?? Number.POSITIVE_INFINITY;
    const needed = connections + spareFiles;
    return (
      limit < needed && `This needs ${needed} open files, but the limit is ${limit}. Raise it with ulimit -n.`
    );
  },
  run: ({ connections, seconds }) => measure(connections, seconds),
});
