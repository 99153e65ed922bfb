/** Two instances behind HAProxy, restarted in turn by SIGTERM while callers go on calling. */
import { fillFixture } from '../packages/testkit/fixtures/fixture.ts';
import type { Lifetime } from '../packages/testkit/fixtures/lifetime.ts';
import { commandLine, type Running, start } from '../packages/testkit/fixtures/run.ts';
import { freePort } from '../packages/testkit/servers/free-port.ts';
import { type Behind, startHaproxy } from '../packages/testkit/servers/haproxy.ts';
import { callForBrands } from './one-call.ts';
import { startLoad, type Totals } from './rolling-load.ts';

export interface Rolling {
  readonly restarts: number;
  readonly drainDelaySeconds: number;
  readonly callers: number;
  readonly perSecond: number;
  /** Whether the balancer may try a request again that an instance did not take. */
  readonly isRetrying: boolean;
  /** Called after each restart. */
  readonly tell: (restart: number, totals: Totals) => void;
}

interface Rolled extends Totals {
  /** What the balancer said of the instances, and the instances of themselves: that they shed, for one. */
  readonly words: string;
}

interface Instance extends Behind {
  process: Running;
  /** What it logged, before its restarts, too. */
  words(): string;
  restart(): Promise<void>;
}

/** Resolves to what callers met, and fails where an instance does not end as it should. */
export async function rollThrough(t: Lifetime, rolling: Rolling): Promise<Rolled> {
  const line = commandLine(t);
  await line.inside(fillFixture, 'sandbox');
  const delay = ['--drain-delay', String(rolling.drainDelaySeconds)];
  const flags = ['--database', line.database, '--environment', 'sandbox', '--brands-rate', '0', ...delay];
  const instances = [await startInstance(t, flags), await startInstance(t, flags)] as const;
  const balancer = await startHaproxy(t, instances, (config) =>
    tellingApart(rolling.isRetrying ? config : withoutRetries(config)),
  );
  const call = { ...(await callForBrands(instances[0].port)), port: balancer.port };

  const load = startLoad(call, rolling.callers, rolling.perSecond);
  for (let restart = 1; restart <= rolling.restarts; restart += 1) {
    await instances[restart % 2]!.restart();
    // One at a time: before it gets callers again, the other one must not go.
    await balancer.untilAllUp();
    rolling.tell(restart, load.totals());
  }
  const totals = await load.stop();
  return { ...totals, words: [balancer, ...instances].map((part) => part.words()).join('') };
}

async function startInstance(t: Lifetime, flags: readonly string[]): Promise<Instance> {
  const [port, operationsPort] = [await freePort(), await freePort()];
  // Both tell the same addresses, so that either's answer is the right one.
  const addresses = ['--port', port, '--ops-port', operationsPort, '--public-url', 'https://network.example'];
  const words = ['serve', ...flags, ...addresses.map(String), '--log-level', 'warn'];
  const launch = async () => {
    const running = start(t, words);
    await running.says('stderr', /^Serving /m);
    return running;
  };
  let earlier = '';
  const instance: Instance = {
    port,
    operationsPort,
    process: await launch(),
    words: () => earlier + instance.process.texts().stdout,
    restart: async () => {
      instance.process.signal('SIGTERM');
      const status = await instance.process.ended;
      const { stdout, stderr } = instance.process.texts();
      if (status !== 0) throw new Error(`An instance ended with status ${status}: ${stdout}${stderr}`);
      earlier += stdout;
      instance.process = await launch();
    },
  };
  return instance;
}

/** Answers that the balancer gave itself say so: they look like the service's own, with an id and all. */
function tellingApart(config: string): string {
  return config.replace(
    /^( +http-after-response set-header )X-Request-Id \S+(.*)$/m,
    '$1X-Answered-By "the balancer"$2\n$&',
  );
}

function withoutRetries(config: string): string {
  return config.replace(/^ +retry-on .*\n/m, '').replace(/^( +retries) \d+$/m, '$1 0');
}
