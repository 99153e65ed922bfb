/**
 * The networks between instances and their servers, in a process of their own so that a busy load does not
 * slow them. Takes orders as messages.
 */
import { openLifetime } from '../../../packages/testkit/fixtures/lifetime.ts';
import { type Network, startNetwork } from '../../../packages/testkit/servers/network.ts';

export type WireName = 'redis' | 'primary';
export type WireHarm = 'silence' | 'go on' | 'slow' | 'fast' | 'hang up';

/** Well above the limiter's timeout for Redis. */
const slowMs = 60;

const acts: Readonly<Record<WireHarm, (network: Network) => void>> = {
  silence: (network) => network.fallSilent(),
  'go on': (network) => network.goOn(),
  slow: (network) => network.slowDown(slowMs),
  fast: (network) => network.slowDown(0),
  'hang up': (network) => network.hangUp(),
};

const lifetime = openLifetime();
const names: readonly WireName[] = ['redis', 'primary'];
const networks = await Promise.all(
  process.argv.slice(2).map((port) => startNetwork(lifetime, { port: Number(port) })),
);
process.on('message', ({ wire, harm }: { wire: WireName; harm: WireHarm }) => {
  acts[harm](networks[names.indexOf(wire)]!);
  process.send!(harm);
});
process.on('disconnect', () => process.exit());
process.send!(networks.map(({ port }) => port));
