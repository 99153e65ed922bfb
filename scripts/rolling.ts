/** Restarts instances behind a balancer under a steady load, and counts who noticed. */
import { runProgram, say, wholeRun } from '../bench/lib/program.ts';
import { withoutHaproxy } from '../packages/testkit/servers/haproxy.ts';
import type { Totals } from './rolling-load.ts';
import { type Rolling, rollThrough } from './rolling-restarts.ts';

const help = `Usage: npm run rolling -- [FLAGS]

Starts two instances behind HAProxy, with the configuration of docs/operators/haproxy.cfg, and callers who
keep their connections and go on calling. Restarts the instances in turn by SIGTERM, the next one when the
balancer has the one before again. Every request must get its right answer; callers do not try again. Ends
with status 1 when one did not.

  --restarts N      20 unless given
  --drain-delay N   seconds of the instances; 5 unless given, as for serve
  --callers N       50 unless given, each on a connection of its own
  --rate N          requests a second of all of them together; 300 unless given
  --no-retries      the balancer does not try again either
  --help            this text`;

type Flags = Omit<Rolling, 'tell'>;

function tellOf({ failures }: Totals): string {
  const kinds = [...failures].map(([kind, count]) => `${count} × ${kind}`);
  return kinds.length === 0 ? 'none failed' : `failed: ${kinds.join(', ')}`;
}

async function measure(flags: Flags): Promise<boolean> {
  const tell = (restart: number, totals: Totals) =>
    say(`Restart ${restart} of ${flags.restarts}; ${totals.requests} requests, ${tellOf(totals)}.`);
  const totals = await rollThrough(wholeRun, { ...flags, tell });
  process.stdout.write(
    `${flags.restarts} restarts, ${totals.requests} requests of ${flags.callers} callers, ` +
      `${tellOf(totals)}; ` +
      `the slowest took ${totals.slowestMs.toFixed(0)} ms. ` +
      `The balancer ${flags.isRetrying ? 'could try again elsewhere' : 'did not try again'}.\n`,
  );
  if (totals.failures.size === 0) return true;
  say(`What the balancer and the instances said:\n${totals.words}`);
  return false;
}

await runProgram({
  help,
  options: {
    restarts: 'value',
    'drain-delay': 'value',
    callers: 'value',
    rate: 'value',
    'no-retries': 'switch',
  },
  readFlags: (given): Flags => ({
    restarts: given.wholeNumber('restarts', 1, 999_999, 20),
    drainDelaySeconds: given.wholeNumber('drain-delay', 1, 60, 5),
    callers: given.wholeNumber('callers', 1, 10_000, 50),
    perSecond: given.wholeNumber('rate', 1, 100_000, 300),
    isRetrying: !given.has('no-retries'),
  }),
  lackFor: () => withoutHaproxy,
  run: measure,
});
