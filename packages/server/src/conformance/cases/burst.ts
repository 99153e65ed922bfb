/** The exact rate. Run only with --burst. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, type Case, type Probe, Skip } from '../case.ts';
import { type Finders, table } from './table.ts';

const send = (probe: Probe, count: number) => probe.burst(count, '/brands', { limit: 1 });

/** A limiter that counts per calendar second, or a bucket that fills up, admits too many of these. */
const bursts = (probe: Probe) =>
  probe.once('bursts', async () => {
    const answers: Answer[] = [];
    for (const pauseMs of [1_000, 400, 400]) {
      await wait(pauseMs);
      answers.push(...(await send(probe, 70)));
    }
    return answers;
  });

const isRefused = ({ status }: Answer) => status === 429;

const finders: Finders = {
  /** Finds the first of 51 answers that were certainly admitted within a second. */
  excess: () => async (probe) => {
    const admitted = (await bursts(probe)).filter(({ status }) => status === 200);
    const isWithin = (sentMs: number) => (one: Answer) =>
      one.sentMs >= sentMs && one.answeredMs < sentMs + 1_000;
    return admitted.find(({ sentMs }) => admitted.filter(isWithin(sentMs)).length > 50);
  },
  otherStatus: () => async (probe) =>
    (await bursts(probe)).find((one) => one.status !== 200 && !isRefused(one)),
  noTime: () => async (probe) => {
    const refused = (await bursts(probe)).filter(isRefused);
    if (refused.length === 0) throw new Skip('a rate limit that was reached');
    return refused.find((answer) => {
      const [seconds, ms] = [answer.header('retry-after'), answer.header('retry-after-ms')];
      return !/^[1-9]\d*$/.test(`${ms}`) || seconds !== String(Math.ceil(Number(ms) / 1_000));
    });
  },
  /** Other traffic with the key may take the place of a retry, so it has three chances. */
  refusedAgain: () => async (probe) => {
    for (let chance = 1; ; chance += 1) {
      // Without earlier requests in the last second, the first 50 are admitted now.
      await wait(1_000);
      const refused = (await send(probe, 60)).findLast(isRefused);
      if (refused === undefined) throw new Skip('a rate limit that was reached');
      const waitMs = Number(refused.header('retry-after-ms') ?? 1_000);
      await wait(Math.max(1, refused.answeredMs + waitMs - performance.now()));
      const [retry] = await send(probe, 1);
      if (retry?.status === 200 || chance === 3) return retry?.status === 200 ? undefined : retry;
    }
  },
  balances: (listing) => async (probe) => {
    await send(probe, 60);
    const query = { customer_id: probe.given.PARTNER_NETWORK_CUSTOMER_ID, type: 'CHECKING', limit: 1 };
    return (await probe.burst(5, `/${listing}`, query)).find(({ status }) => status !== 200);
  },
};

export const burst: readonly Case[] = table(
  `
# Rate limit decisions
burst.rate: Never more than 50 requests for brands are admitted in any second | excess
burst.refused: Requests over the rate are 429, and all others are answered | otherStatus
burst.retry-after: A 429 has Retry-After in seconds and Retry-After-Ms in milliseconds | noTime
burst.retry: A retry after the time of Retry-After-Ms is admitted | refusedAgain
burst.balances: The rate of brands does not limit balances | balances balances
`,
  finders,
).map((one) => ({ ...one, needsBurst: true }));
