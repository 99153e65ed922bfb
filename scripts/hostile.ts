/** Holds connections open by sending headers slowly, and looks how a normal caller fares meanwhile. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { print, runProgram, say, wholeRun } from '../bench/lib/program.ts';
import { median, ms, quantile } from '../bench/lib/statistics.ts';
import { openFileLimit } from '../packages/server/src/lib/open-files.ts';
import { fillFixture } from '../packages/testkit/fixtures/fixture.ts';
import { commandLine, start } from '../packages/testkit/fixtures/run.ts';
import type { Attack } from './hostile-attack.ts';
import { type Call, callForBrands, callOnce } from './one-call.ts';

const mostMs = 1_000;
const callEveryMs = 20;

const help = `Usage: npm run hostile -- [FLAGS]

Starts the service, and opens connections on which headers come a byte a second and never end. One that
the service closes is opened again. A normal caller meanwhile asks for a page every ${callEveryMs} ms,
in turns on a connection that it keeps and on a new one. Ends with status 1 when one of its requests does
not get its page, or when the slowest in a hundred takes longer than ${mostMs} ms.

  --connections N   5,000 unless given; past 10,000 the service closes those that ask for nothing
  --seconds N       15 unless given: longer than the service waits for headers
  --help            this text`;

interface Flags {
  readonly connections: number;
  readonly seconds: number;
}

function lackFor({ connections }: Flags): string | false {
  const limit = openFileLimit() ?? Number.POSITIVE_INFINITY;
  const isEnough = limit >= connections + 500;
  return !isEnough && `It needs ${connections + 500} open files, and may have ${limit}: raise ulimit -n.`;
}

/** Starts the attacker, and tells how it fares. */
function startAttack(port: number, connections: number): { latest(): Attack; stop(): Promise<void> } {
  const program = fileURLToPath(new URL('hostile-attack.ts', import.meta.url));
  const child = fork(program, [String(port), String(connections)]);
  const ended = once(child, 'exit');
  let latest: Attack = { open: 0, cutOff: 0 };
  child.on('message', (told: Attack) => {
    latest = told;
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  wholeRun.after(stop);
  return { latest: () => latest, stop };
}

interface Fared {
  readonly tookMs: number[];
  readonly failures: string[];
}

async function callFor(call: Call, seconds: number): Promise<Fared> {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const fared: Fared = { tookMs: [], failures: [] };
  const endsMs = performance.now() + seconds * 1_000;
  for (let number = 0; performance.now() < endsMs; number += 1) {
    const startedMs = performance.now();
    const failure = await callOnce(number % 2 === 0 ? kept : new Agent(), call);
    if (failure !== undefined) fared.failures.push(failure);
    fared.tookMs.push(performance.now() - startedMs);
    await wait(callEveryMs);
  }
  kept.destroy();
  return fared;
}

function told(name: string, { tookMs, failures }: Fared): string {
  const failed = failures.length === 0 ? 'none failed' : `failed: ${failures.slice(0, 5).join(', ')}…`;
  const [middle, slow] = [ms(median(tookMs)), ms(quantile(tookMs, 0.99))];
  return `${name}: ${tookMs.length} requests, ${failed}; median ${middle}, p99 ${slow}.`;
}

function megabytesOf(pid: number): string {
  const [, kilobytes = 'unknown'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return `${Math.round(Number(kilobytes) / 1024)} MB`;
}

async function measure({ connections, seconds }: Flags): Promise<boolean> {
  const line = commandLine(wholeRun);
  await line.inside(fillFixture, 'sandbox');
  const ports = ['--port', '0', '--ops-port', '0', '--drain-delay', '0', '--log-level', 'warn'];
  const rates = ['--brands-rate', '0'];
  const words = ['serve', '--database', line.database, '--environment', 'sandbox', ...ports, ...rates];
  const service = start(wholeRun, words);
  const [, address = ''] = await service.says('stderr', /listening on (\S+), /);
  const port = Number(new URL(address).port);
  const call = await callForBrands(port);

  const before = await callFor(call, Math.min(seconds, 5));
  print(told('Alone', before));
  say(`Opening ${connections} connections.`);
  const attack = startAttack(port, connections);
  const meanwhile = await callFor(call, seconds + connections / 5_000);
  const { open, cutOff } = attack.latest();
  print(told('Meanwhile', meanwhile));
  const p99 = ({ tookMs }: Fared) => quantile(tookMs, 0.99);
  print(
    `${open} connections held open at the end, ${cutOff} times one was cut off; ` +
      `the service takes ${megabytesOf(service.pid)}; ` +
      `p99 ${(p99(meanwhile) / p99(before)).toFixed(1)} times that of before.`,
  );
  await attack.stop();
  service.signal('SIGTERM');
  await service.ended;
  const isFine = meanwhile.failures.length === 0 && p99(meanwhile) <= mostMs;
  print(isFine ? 'The normal caller was not stopped.' : 'The normal caller was stopped.');
  return isFine;
}

await runProgram({
  help,
  options: { connections: 'value', seconds: 'value' },
  readFlags: (given): Flags => ({
    connections: given.wholeNumber('connections', 1, 999_999, 5_000),
    seconds: given.wholeNumber('seconds', 1, 999_999, 15),
  }),
  lackFor,
  run: measure,
});
