/** Restarts instances behind a balancer under steady load, and counts failed requests. */

import { flag, wholeNumber } from '../../packages/common/src/command-line/options.ts';
import { newestPackage } from '../../packages/testkit/releases/releases.ts';
import { withoutHaproxy } from '../../packages/testkit/servers/haproxy.ts';
import { quantile } from '../bench/lib/statistics.ts';
import { print, runProgram, say, wholeRun, withDefault } from '../lib/program.ts';
import { failuresText } from './callers.ts';
import { type Rolling, rollThrough } from './restarts.ts';

const about = `
Starts two instances behind HAProxy, with the configuration in docs/how-to/operators/haproxy.cfg, and callers
that keep their connections and never retry. Restarts the instances in turn by SIGTERM, each when the
balancer uses the previous one again. Ends with status 1 if a request does not get its right answer.

With --upgrade, the instances are first of the last release in test/releases/, on Postgres. Then "migrate"
of this version runs, and each restart replaces an instance by this version.`;

async function roll(rolling: Rolling): Promise<boolean> {
  const { restarts, callers, isRetrying } = rolling;
  const { logs, ...totals } = await rollThrough(wholeRun, {
    ...rolling,
    onRestart: (restart, soFar) =>
      say(`Restart ${restart} of ${restarts}; ${soFar.tookMs.length} requests, ${failuresText(soFar)}.`),
  });
  print(
    `${restarts} restarts, ${totals.tookMs.length} requests of ${callers} callers, ` +
      `${failuresText(totals)}; ` +
      `the slowest took ${quantile(totals.tookMs, 1).toFixed(0)} ms. ` +
      `The balancer ${isRetrying ? 'could retry on the other instance' : 'did not retry'}.`,
  );
  if (totals.failures.size > 0) say(`The logs of the balancer and the instances:\n${logs}`);
  return totals.failures.size === 0;
}

await runProgram({
  usage: 'npm run check -- rolling',
  about,
  options: {
    restarts: withDefault('N', wholeNumber(1, 999_999), 20, 'number of restarts'),
    'drain-delay': withDefault('N', wholeNumber(1, 60), 5, 'seconds, as for serve'),
    callers: withDefault('N', wholeNumber(1, 10_000), 50, 'callers, each with its own connection'),
    rate: withDefault('N', wholeNumber(1, 100_000), 300, 'requests a second of all callers together'),
    'no-retries': flag('the balancer does not retry either'),
    upgrade: flag('upgrade from the last release to this version'),
  },
  missing: ({ upgrade }) =>
    withoutHaproxy ||
    (upgrade &&
      newestPackage() === undefined &&
      'test/releases/ has no package: run "npm run release:keep" first.'),
  run: ({ restarts, callers, rate, ...flags }) =>
    roll({
      restarts,
      callers,
      perSecond: rate,
      drainDelaySeconds: flags['drain-delay'],
      isRetrying: !flags['no-retries'],
      isUpgrade: flags.upgrade,
    }),
});
