/** Measures whether the time of an answer reveals that a key is in the database. */
import { randomInt } from 'node:crypto';
import { basePath } from '@partner-network/contract/operations';
import { oneOf, optional, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { chanceOf } from '../../../packages/testkit/model/chance.ts';
import { print, runProgram, say, withDefault } from '../../lib/program.ts';
import { bytesOf, openConnection } from '../lib/connection.ts';
import { type Engine, engines, missingFor, newDatabase, startService } from '../lib/service.ts';
import { quantile, percent as rounded, shuffled } from '../lib/statistics.ts';
import { type Keys, makeKeys } from './keys.ts';

const largestSeed = 2 ** 31;
const roundsToJudge = 5_000;
const warmUpRounds = 2_000;
/** How often a guess from two answers may be right; a coin is right in half of the cases. */
const goal = 0.55;
const percent = (share: number) => rounded(share, 1);

const about = `
Serves a database with a thousand revoked keys, and sends requests with revoked keys, unknown keys, and
unknown keys whose digest begins like a known one, in random order. Prints how often an answer took longer
than the answer to an unknown key: 50 % if they cannot be distinguished, as for the control (unknown keys,
too). Half of the requests have revoked keys, because frequent code paths are faster. Ends with status 1 if
a guess is right in more than ${percent(goal)} of the cases with 99 % confidence.`;

/** The requests of each round, and the keys that each uses. */
const subjects = {
  unknown: 'unknown',
  control: 'unknown',
  near: 'near',
  'revoked 1': 'revoked',
  'revoked 2': 'revoked',
  'revoked 3': 'revoked',
} as const satisfies Readonly<Record<string, keyof Keys>>;

type Subject = keyof typeof subjects;
/** Microseconds of each answer. */
type Times = Readonly<Record<Subject, number[]>>;

const names = Object.keys(subjects) as Subject[];

const targets = { brands: '/brands', balances: '/balances?type=CHECKING&customer_id=customer' };

async function measure(port: number, target: string, keys: Keys, rounds: number, random: () => number) {
  const lost = Promise.withResolvers<never>();
  const connection = await openConnection(port, lost.reject);
  const timed = (key: string) => {
    const request = bytesOf({ path: `${basePath}${target}`, key });
    const answered = new Promise<number>((resolve) => {
      const sentMs = performance.now();
      connection.send(request, () => resolve((performance.now() - sentMs) * 1_000));
    });
    return Promise.race([answered, lost.promise]);
  };
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Times;
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const name of shuffled(names, random)) {
      const choice = keys[subjects[name]];
      const us = await timed(choice[Math.floor(random() * choice.length)]!);
      if (round >= 0) times[name].push(us);
    }
  }
  connection.close();
  return times;
}

/** Neighboring rounds are correlated, because they share the machine's load. Blocks of rounds are not. */
const roundsOfBlock = 50;
/** Standard errors on each side of the mean that make an interval of 99 % confidence. */
const errorsOfInterval = 2.576;

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The share of rounds in which the second time is longer, with its interval: 0.5 if the two cannot be
 * distinguished. Only the order counts, so outliers have no weight.
 */
function shareSlower(first: readonly number[], second: readonly number[]) {
  const slower = first.map((us, round) => (1 + Math.sign(second[round]! - us)) / 2);
  const blocks = Array.from({ length: Math.floor(slower.length / roundsOfBlock) }, (_, block) =>
    meanOf(slower.slice(block * roundsOfBlock, (block + 1) * roundsOfBlock)),
  );
  const value = meanOf(blocks);
  const variance = meanOf(blocks.map((block) => (block - value) ** 2));
  const margin = errorsOfInterval * Math.sqrt(variance / (blocks.length - 1));
  return { value, low: value - margin, high: value + margin };
}

function rowOf(name: Subject, times: Times, share: ReturnType<typeof shareSlower>): string {
  const us = [0.25, 0.5, 0.75].map((part) => quantile(times[name], part).toFixed(1).padStart(8)).join('');
  const range = `${percent(share.low)} to ${percent(share.high)}`;
  return `  ${name.padEnd(10)}${us}   ${percent(share.value)} (${range})`;
}

type Finding = ReturnType<typeof report>[number];

function report(listing: string, times: Times) {
  print(`${listing}: µs at a quarter, half and three quarters; slower than unknown`);
  const shares = names.map((name) => ({ name, share: shareSlower(times.unknown, times[name]) }));
  const control = shares.find(({ name }) => name === 'control')!.share;
  return shares.map(({ name, share }) => {
    print(rowOf(name, times, share));
    return {
      // Differs from the control, with confidence.
      isMeasurable: name !== 'unknown' && (share.low > control.high || share.high < control.low),
      // A guess is right more often than the goal, with confidence.
      isAboveGoal: share.low > goal || share.high < 1 - goal,
      sentence: `List ${listing}: "${name}" is slower than "unknown" in ${percent(share.value)} of the cases.`,
    };
  });
}

/** Prints all measurable differences, and returns whether all are within the goal. */
function judge(findings: readonly Finding[]): boolean {
  const measurable = findings.filter(({ isMeasurable }) => isMeasurable);
  for (const { sentence } of measurable) say(sentence);
  const isMet = findings.every(({ isAboveGoal }) => !isAboveGoal);
  if (measurable.length === 0) say('Nothing differs from the control.');
  else say(`This is ${isMet ? 'measurable, but within' : 'above'} the goal of ${percent(goal)}.`);
  return isMet;
}

async function compare(rounds: number, engine: Engine, seed: number): Promise<boolean> {
  say(`Seed ${seed}, ${engine}. Making keys.`);
  const database = await newDatabase(engine);
  const keys = await makeKeys(database);
  const { port } = await startService(database);
  const random = chanceOf(seed).fraction;
  const findings: Finding[] = [];
  for (const [listing, target] of Object.entries(targets)) {
    say(`List ${listing}: ${(rounds * names.length).toLocaleString('en')} requests.`);
    findings.push(...report(listing, await measure(port, target, keys, rounds, random)));
  }
  const isMet = judge(findings);
  if (rounds >= roundsToJudge) return isMet;
  say(`Fewer than ${roundsToJudge.toLocaleString('en')} rounds are not judged.`);
  return true;
}

await runProgram({
  usage: 'npm run bench -- timing',
  about,
  options: {
    rounds: withDefault('N', wholeNumber(100, 10_000_000), 20_000, 'requests of each kind, for each listing'),
    engine: withDefault('NAME', oneOf(engines), 'sqlite', 'sqlite or postgres'),
    seed: optional('N', wholeNumber(0, largestSeed), 'decides the order of the requests (random)'),
  },
  missing: missingFor,
  run: ({ rounds, engine, seed = randomInt(largestSeed) }) => compare(rounds, engine, seed),
});
