/** A real HAProxy in front of both instances, which asks each whether it is ready. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCatalogue } from '@partner-network/contract/errors';
import { freePort } from '../packages/server/test/support/free-port.ts';
import type { Lifetime } from '../packages/server/test/support/lifetime.ts';
import { programsOnPath } from '../packages/server/test/support/programs.ts';
import { until } from '../packages/server/test/support/until.ts';

const [program] = programsOnPath(['haproxy'], ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin']);

export const lackOfBalancer =
  program === undefined && 'this takes HAProxy: "apt-get install haproxy" or "brew install haproxy"';

export interface Backend {
  readonly name: string;
  readonly port: number;
  readonly operationsPort: number;
}

export interface Balancer {
  readonly port: number;
  /** A new process takes the place of the old one, which ends when its connections do. */
  reload(): Promise<void>;
}

/** In the words of the catalogue, so that a caller never gets anything else. */
function errorLine(status: number): string {
  const { category, detail } = errorCatalogue.SERVICE_UNAVAILABLE;
  const body = JSON.stringify({ errors: [{ category, code: 'SERVICE_UNAVAILABLE', detail }] });
  return `  http-error status ${status} content-type "application/json" string '${body}' hdr Retry-After 1`;
}

/** A request that no instance has begun to answer is sent to the other one: all are reads. */
const configOf = (port: number, backends: readonly Backend[]) => `defaults
  mode http
  timeout connect 500ms
  timeout client 30s
  timeout server 4s
  timeout check 500ms
  retries 2
  option redispatch 1
  retry-on conn-failure empty-response
${[502, 503, 504].map(errorLine).join('\n')}
frontend public
  bind 127.0.0.1:${port}
  default_backend instances
backend instances
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  http-response set-header X-Served-By %s
  default-server inter 250ms fall 2 rise 1 on-marked-down shutdown-sessions
${backends
  .map((backend) => `  server ${backend.name} 127.0.0.1:${backend.port} check port ${backend.operationsPort}`)
  .join('\n')}
`;

export async function startBalancer(
  t: Lifetime,
  folder: string,
  backends: readonly Backend[],
): Promise<Balancer> {
  const port = await freePort();
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(config, configOf(port, backends));
  const checked = spawnSync(program!, ['-c', '-f', config], { encoding: 'utf8' });
  if (checked.status !== 0) throw new Error(`HAProxy refuses its configuration: ${checked.stderr}`);
  const log = openSync(join(folder, 'haproxy.log'), 'a');
  const running = new Set<ChildProcess>();
  let newest: ChildProcess | undefined;

  async function launch(): Promise<void> {
    const words = newest === undefined ? [] : ['-sf', String(newest.pid)];
    const child = spawn(program!, ['-db', '-f', config, ...words], { stdio: ['ignore', log, log] });
    running.add(child);
    child.once('exit', () => running.delete(child));
    newest = child;
    await once(child, 'spawn');
  }

  t.after(async () => {
    await Promise.all(
      [...running].map((child) => {
        child.kill('SIGKILL');
        return once(child, 'exit');
      }),
    );
  });
  await launch();
  await until(10_000, () =>
    fetch(`http://127.0.0.1:${port}/assets/brand-placeholder.png`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return { port, reload: launch };
}
