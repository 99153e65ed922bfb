/** The exact rate. Run only with --burst. */
import { setTimeout as wait } from 'node:timers/promises';
import { brandsPerSecond } from '@partner-network/contract/limits';
import { type Answer, type Case, type Probe, Skip } from '../case.ts';
import { cases } from './rows.ts';
import { unless } from './table.ts';
import { queryOf } from './walks.ts';

/**
 * Three bursts within a second. A limiter that counts per calendar second, or a bucket that fills up, admits
 * too many in the second or third.
 */
const bursts = (probe: Probe) =>
  probe.once('bursts', async () => {
    const answers: Answer[] = [];
    for (const pauseMs of [1_000, 400, 400]) {
      await wait(pauseMs);
      answers.push(...(await probe.burst(70, '/brands', { limit: 1 })));
    }
    return answers;
  });

/** The 51st answer of 51 that were certainly admitted within a second. */
function excess(answers: readonly Answer[]): Answer | undefined {
  const admitted = answers.filter(({ status }) => status === 200);
  const bySent = admitted.toSorted((one, other) => one.sentMs - other.sentMs);
  return bySent.find(({ sentMs }) => {
    const inside = admitted.filter((one) => one.sentMs >= sentMs && one.answeredMs < sentMs + 1_000);
    return inside.length > brandsPerSecond;
  });
}

async function refused(probe: Probe): Promise<readonly Answer[]> {
  const answers = (await bursts(probe)).filter(({ status }) => status === 429);
  if (answers.length === 0) throw new Skip('a rate limit that was reached');
  return answers;
}

const rate = cases('Rate limit', 'decisions', {
  'burst.rate': [
    'Never more than 50 requests are admitted in any second',
    async (probe) => excess(await bursts(probe)),
  ],
  'burst.refused': [
    'Requests over the rate are refused with RATE_LIMITED, and all others are answered',
    async (probe) => {
      const answers = (await bursts(probe)).filter(({ status }) => status !== 200);
      return answers.map((answer) => unless(answer, '429 RATE_LIMITED')).find(Boolean);
    },
  ],
  'burst.retry-after': [
    'A 429 has Retry-After in seconds and Retry-After-Ms in milliseconds, of the same time',
    async (probe) =>
      (await refused(probe)).find((answer) => {
        const [seconds, ms] = [answer.header('retry-after'), answer.header('retry-after-ms')];
        return !/^\d+$/.test(`${ms}`) || Number(ms) < 1 || seconds !== String(Math.ceil(Number(ms) / 1_000));
      }),
  ],
  'burst.retry': [
    'A retry after the time of Retry-After-Ms is admitted',
    async (probe) => {
      await refused(probe);
      for (let attempt = 0; ; attempt += 1) {
        const answer = (await probe.burst(60, '/brands', { limit: 1 })).findLast(
          ({ status }) => status === 429,
        );
        if (answer === undefined) return undefined;
        await wait(
          Number(answer.header('retry-after-ms') ?? 1_000) - (performance.now() - answer.answeredMs),
        );
        const [retried] = await probe.burst(1, '/brands', { limit: 1 });
        // Other traffic with the key may take the place.
        if (retried!.status === 200 || attempt === 2) return retried!.status === 200 ? undefined : retried;
      }
    },
  ],
  'burst.balances': [
    'The rate of brands does not limit balances',
    async (probe) => {
      await probe.burst(60, '/brands', { limit: 1 });
      const answers = await probe.burst(5, '/balances', { ...queryOf('balances', probe), limit: 1 });
      return answers.find(({ status }) => status !== 200);
    },
    ['PARTNER_NETWORK_CUSTOMER_ID'],
  ],
});

export const burst: readonly Case[] = rate.map((one) => ({ ...one, needsBurst: true }));
