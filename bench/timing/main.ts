/** Whether the time of an answer tells a key that is on file from one that is not. */
import { randomInt } from 'node:crypto';
import { basePath } from '@partner-network/contract/operations';
import { chanceOf } from '../../chaos/chance.ts';
import { startPostgres } from '../../packages/testkit/servers/postgres-start.ts';
import { print, runProgram, say, wholeRun } from '../lib/program.ts';
import { quantile, percent as rounded, shuffled } from '../lib/statistics.ts';
import { type Engine, engines, lackFor } from '../overload/load-service.ts';
import { connectTimed, type Keys, makeKeys, startService, temporaryDatabase } from './service.ts';
import { type Estimate, shareSlower } from './statistics.ts';

const defaultRounds = 20_000;
const largestSeed = 2 ** 31;
const roundsToJudge = 5_000;
const warmUpRounds = 2_000;
/** A service may end a connection after 1,000 requests. */
const roundsOfConnection = 100;
/** How often a guess from one answer of each may be right; a coin is right in half of the cases. */
const goal = 0.55;

const help = `Usage: node bench/timing/main.ts [FLAGS]

Serves a database with a thousand revoked keys, and asks with these, with keys that were never issued, and
with such whose digest begins as one on file, in turn and in any order. Prints how often an answer took
longer than the one to an unknown key: 50 % where nothing tells them apart, as for the control, which is
unknown keys, too. As many answers go to revoked keys as to others: what is done more often is done faster.

  --rounds N           requests of each kind, for each listing (${defaultRounds.toLocaleString('en')})
  --engine ENGINE      sqlite or postgres (sqlite)
  --seed N             the order of the requests (any)
  --help               this text

It ends with status 1 when a guess from one answer of each
is right in more than ${Math.round(goal * 100)} % of the cases, for sure.`;

interface Flags {
  readonly rounds: number;
  readonly engine: Engine;
  readonly seed: number;
}

/** What is asked in each round, and with which keys. */
const subjects = {
  unknown: 'unknown',
  control: 'unknown',
  near: 'near',
  'revoked 1': 'revoked',
  'revoked 2': 'revoked',
  'revoked 3': 'revoked',
} as const satisfies Readonly<Record<string, keyof Keys>>;

type Subject = keyof typeof subjects;
type Times = Readonly<Record<Subject, number[]>>;

const names = Object.keys(subjects) as Subject[];

const targets = { brands: '/brands', balances: '/balances?type=CHECKING&customer_id=customer' };

async function measure(port: number, target: string, keys: Keys, rounds: number, random: () => number) {
  const requestOf = (key: string) =>
    Buffer.from(
      `GET ${basePath}${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Times;
  for (let round = -warmUpRounds; round < rounds; ) {
    const connection = await connectTimed(port);
    await connection.ask(requestOf(keys.unknown[0]!));
    const end = Math.min(rounds, round + roundsOfConnection);
    for (; round < end; round += 1) {
      for (const name of shuffled(names, random)) {
        const choice = keys[subjects[name]];
        const us = await connection.ask(requestOf(choice[Math.floor(random() * choice.length)]!));
        if (round >= 0) times[name].push(us);
      }
    }
    connection.close();
  }
  return times;
}

const percent = (share: number) => rounded(share, 1);

function rowOf(name: Subject, times: Times, share: Estimate): string {
  const us = [0.25, 0.5, 0.75].map((part) => quantile(times[name], part).toFixed(1).padStart(8)).join('');
  const range = `${percent(share.low)} to ${percent(share.high)}`;
  return `  ${name.padEnd(10)}${us}   ${percent(share.value)} (${range})`;
}

interface Told {
  /** Apart from the control, as far as is sure. */
  readonly isMeasurable: boolean;
  /** More often than it may be, as far as is sure. */
  readonly isTooOften: boolean;
  readonly sentence: string;
}

/** Prints a table, and gives what can be told from unknown keys. */
function report(listing: string, times: Times, random: () => number): Told[] {
  print(`${listing}: µs at a quarter, half and three quarters; slower than unknown`);
  const shares = names.map((name) => ({ name, share: shareSlower(times.unknown, times[name], random) }));
  const control = shares.find(({ name }) => name === 'control')!.share;
  return shares.map(({ name, share }) => {
    print(rowOf(name, times, share));
    return {
      isMeasurable: name !== 'unknown' && (share.low > control.high || share.high < control.low),
      isTooOften: share.low > goal || share.high < 1 - goal,
      sentence: `List ${listing}: "${name}" is told from "unknown" in ${percent(share.value)} of the cases.`,
    };
  });
}

/** Whether all is well; what is within the goal and yet no chance is said, too. */
function judge(told: readonly Told[]): boolean {
  for (const { isMeasurable, sentence } of told) if (isMeasurable) say(sentence);
  const isFine = told.every(({ isTooOften }) => !isTooOften);
  const most = percent(goal);
  if (!told.some(({ isMeasurable }) => isMeasurable)) say('Nothing differs from the control.');
  else say(isFine ? `That is no chance, but within the goal of ${most}.` : `The goal is ${most} at most.`);
  return isFine;
}

async function compare({ rounds, engine, seed }: Flags): Promise<boolean> {
  say(`Seed ${seed}, ${engine}. Making keys.`);
  const database = engine === 'sqlite' ? temporaryDatabase() : (await startPostgres(wholeRun)).url();
  const keys = await makeKeys(database);
  const port = await startService(database);
  const random = chanceOf(seed).fraction;
  const told: Told[] = [];
  for (const [listing, target] of Object.entries(targets)) {
    say(`Asking for ${listing}: ${(rounds * names.length).toLocaleString('en')} requests.`);
    told.push(...report(listing, await measure(port, target, keys, rounds, random), random));
  }
  if (rounds < roundsToJudge) say(`Fewer than ${roundsToJudge.toLocaleString('en')} rounds are not judged.`);
  const isFine = judge(told);
  return isFine || rounds < roundsToJudge;
}

await runProgram({
  help,
  options: { rounds: 'value', engine: 'value', seed: 'value' },
  readFlags: (given): Flags => ({
    rounds: given.wholeNumber('rounds', 100, 10_000_000, defaultRounds),
    engine: given.oneOf('engine', engines, 'sqlite'),
    seed: given.wholeNumber('seed', 0, largestSeed, randomInt(largestSeed)),
  }),
  lackFor: ({ engine }) => lackFor(engine),
  run: compare,
});
