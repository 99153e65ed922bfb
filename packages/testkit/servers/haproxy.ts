/** A real HAProxy with the configuration in docs/how-to/operators, in front of two instances. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { killAfter, type Lifetime, temporaryFolder, until } from '../fixtures/lifetime.ts';
import { freePort } from './free-port.ts';
import { programsOnPath } from './programs.ts';

export const haproxyConfig = fileURLToPath(
  new URL('../../../docs/how-to/operators/haproxy.cfg', import.meta.url),
);

export const [haproxyProgram] = programsOnPath(
  ['haproxy'],
  ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'],
);

/** Why tests with HAProxy are skipped, or false. */
export const withoutHaproxy =
  haproxyProgram === undefined && 'needs HAProxy (apt-get install haproxy, brew install haproxy)';

export interface Behind {
  readonly port: number;
  readonly operationsPort: number;
}

/** `adapt` changes the configuration for a test. `settings` are further variables of it. */
export async function startHaproxy(
  t: Lifetime,
  [one, two]: readonly [Behind, Behind],
  adapt: (config: string) => string = (config) => config,
  settings: Readonly<Record<string, string>> = {},
) {
  const folder = temporaryFolder(t);
  const control = join(folder, 'control');
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(config, adapt(readFileSync(haproxyConfig, 'utf8')));
  const port = await freePort();
  const environment = { ...placesOf(port, one, two), CONTROL: control, ...settings };
  let words = '';
  let newest = launch([]);

  function launch(flags: readonly string[]): ChildProcess {
    const child = spawn(haproxyProgram!, ['-db', '-f', config, ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environment,
    });
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      words += more;
    });
    killAfter(t, child);
    return child;
  }

  const areUp = () => statesOf(control).then((states) => states.every((state) => state === 'UP'));
  /** Resolves when it sends requests to all of the instances. */
  const untilAllUp = async () => {
    await until(30_000, async () => {
      if (newest.exitCode !== null) throw new Error(`HAProxy ended: ${words}`);
      return areUp().catch(() => false);
    });
  };
  await untilAllUp();
  return {
    port,
    untilAllUp,
    /** Starts a new process on the same sockets. The old process ends when its connections are closed. */
    reload: () => {
      newest = launch(['-x', control, '-sf', String(newest.pid)]);
    },
    /** Its output so far, such as which instance is down and why. */
    words: () => words,
  };
}

/** The variables of the configuration that it cannot do without. */
const placesOf = (port: number, one: Behind, two: Behind) => ({
  LISTEN: `127.0.0.1:${port}`,
  INSTANCE_1: `127.0.0.1:${one.port}`,
  INSTANCE_1_OPS_PORT: String(one.operationsPort),
  INSTANCE_2: `127.0.0.1:${two.port}`,
  INSTANCE_2_OPS_PORT: String(two.operationsPort),
});

/** What HAProxy reports about the configuration; empty if it is valid, without a warning. */
export function faultsOfConfig(settings: Readonly<Record<string, string>> = {}): string {
  const anywhere = { port: 1, operationsPort: 1 };
  const env = { ...placesOf(1, anywhere, anywhere), ...settings };
  const words = ['-c', '-dW', '-f', haproxyConfig];
  const { status, stderr } = spawnSync(haproxyProgram!, words, { env, encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

/** The state of each instance. */
async function statesOf(control: string): Promise<string[]> {
  const socket = connect(control);
  socket.end('show stat\n');
  const [heading = '', ...rows] = (await text(socket)).split('\n').map((line) => line.split(','));
  const column = heading.indexOf('status');
  const servers = rows.filter(([proxy, name]) => proxy === 'network' && /^(one|two)$/.test(name!));
  if (servers.length === 0) throw new Error('HAProxy reports no instance.');
  return servers.map((row) => row[column]!);
}
