/** Holds connections open by sending headers slowly, and looks how a normal caller fares meanwhile. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runProgram, say, wholeRun } from '../bench/program.ts';
import { openFileLimit } from '../packages/server/src/open-files.ts';
import { fillFixture, keys } from '../packages/server/test/support/fixture.ts';
import { commandLine, start } from '../packages/server/test/support/run.ts';
import type { Attack } from './hostile-attack.ts';

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

async function callFor(port: number, seconds: number): Promise<Fared> {
  const kept = new Agent({ keepAlive: true, maxSockets: 1 });
  const fared: Fared = { tookMs: [], failures: [] };
  const endsMs = performance.now() + seconds * 1_000;
  for (let number = 0; performance.now() < endsMs; number += 1) {
    const startedMs = performance.now();
    const outcome = await callOnce(port, number % 2 === 0 ? kept : new Agent());
    if (outcome !== 200) fared.failures.push(String(outcome));
    fared.tookMs.push(performance.now() - startedMs);
    await wait(callEveryMs);
  }
  kept.destroy();
  fared.tookMs.sort((a, b) => a - b);
  return fared;
}

function callOnce(port: number, agent: Agent): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${keys.acme}` };
    request({ agent, host: '127.0.0.1', port, path: '/network/v1/brands', headers, timeout: 10_000 })
      .on('timeout', () => resolve('no answer within 10 s'))
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)))
      .end();
  });
}

const percentile = ({ tookMs }: Fared, share: number) => tookMs[Math.floor(tookMs.length * share)] ?? 0;

function told(name: string, fared: Fared): string {
  const { tookMs, failures } = fared;
  const [middle, slow] = [percentile(fared, 0.5).toFixed(1), percentile(fared, 0.99).toFixed(1)];
  const failed = failures.length === 0 ? 'none failed' : `failed: ${failures.slice(0, 5).join(', ')}…`;
  return `${name}: ${tookMs.length} requests, ${failed}; median ${middle} ms, p99 ${slow} ms.\n`;
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

  const before = await callFor(port, Math.min(seconds, 5));
  process.stdout.write(told('Alone', before));
  say(`Opening ${connections} connections.`);
  const attack = startAttack(port, connections);
  const meanwhile = await callFor(port, seconds + connections / 5_000);
  const { open, cutOff } = attack.latest();
  process.stdout.write(told('Meanwhile', meanwhile));
  process.stdout.write(
    `${open} connections held open at the end, ${cutOff} times one was cut off; ` +
      `the service takes ${megabytesOf(service.pid)}; ` +
      `p99 ${(percentile(meanwhile, 0.99) / percentile(before, 0.99)).toFixed(1)} times that of before.\n`,
  );
  await attack.stop();
  service.signal('SIGTERM');
  await service.ended;
  const isFine = meanwhile.failures.length === 0 && percentile(meanwhile, 0.99) <= mostMs;
  process.stdout.write(isFine ? 'The normal caller was not stopped.\n' : 'The normal caller was stopped.\n');
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
