/** All parts of a deployment, each a real process that faults can be applied to. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killAfter, type Lifetime } from '../../../packages/testkit/fixtures/lifetime.ts';
import { startHaproxy } from '../../../packages/testkit/servers/haproxy.ts';
import { createInstance } from '../../../packages/testkit/servers/instance.ts';
import { startPostgres, startStandby } from '../../../packages/testkit/servers/postgres-start.ts';
import { startRedis } from '../../../packages/testkit/servers/redis.ts';
import { fillWorld, publicUrl } from '../world.ts';
import type { WireHarm, WireName } from './wires.ts';

export type Stage = Awaited<ReturnType<typeof startStage>>;

/** Starts the networks between the instances and their servers. Writers connect directly. */
async function startWires(t: Lifetime, ports: readonly number[]) {
  const child = fork(fileURLToPath(new URL('wires.ts', import.meta.url)), ports.map(String));
  killAfter(t, child);
  const [wirePorts] = (await once(child, 'message')) as [number[]];
  return {
    ports: wirePorts,
    harm: async (wire: WireName, harm: WireHarm) => {
      child.send({ wire, harm });
      await once(child, 'message');
    },
  };
}

/** Adds a header with the instance that answered; the rest is the configuration for operators. */
function namingInstance(config: string): string {
  const [one, two] = ['a', 'b'].map(
    (name, index) => `    http-response set-header X-Served-By ${name} if { srv_id ${index + 1} }\n`,
  );
  return config.replace(/^backend network\n/m, `$&${one}${two}`);
}

export async function startStage(t: Lifetime, folder: string) {
  const primary = await startPostgres(t);
  await fillWorld(primary.url());
  const standby = await startStandby(t, primary);
  const redis = await startRedis(t);
  const wires = await startWires(t, [redis.port, primary.port]);
  const [redisPort, primaryPort] = wires.ports;
  const database = [
    '--environment=sandbox',
    `--public-url=${publicUrl}`,
    `--database=postgres://postgres@127.0.0.1:${primaryPort}/postgres`,
  ];
  const words = [
    ...database,
    `--replica=postgres://postgres@127.0.0.1:${standby.port}/postgres`,
    `--redis=redis://127.0.0.1:${redisPort}`,
    '--instances=2',
  ];
  const instanceNamed = (name: string) =>
    createInstance(t, name, join(folder, `instance-${name}.log`), words);
  const instances = [await instanceNamed('a'), await instanceNamed('b')] as const;
  const admin = await createInstance(t, 'admin', join(folder, 'admin.log'), database, 'admin');
  await Promise.all([...instances, admin].map((instance) => instance.start()));
  const balancer = await startHaproxy(t, instances, namingInstance);
  t.after(() => writeFileSync(join(folder, 'haproxy.log'), balancer.words()));
  return {
    primary,
    standby,
    redis,
    instances,
    admin,
    balancer,
    baseUrl: `http://127.0.0.1:${balancer.port}/network/v1`,
    harmWire: wires.harm,
  };
}
