/** Measures the CPU time of an answer, side by side with bare HTTP. */
import {
  flag,
  oneOf,
  optional,
  Problem,
  wholeNumber,
} from '../../../packages/common/src/command-line/options.ts';
import { packagedReleases } from '../../../packages/testkit/releases/releases.ts';
import { onConnection, withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { runProgram, say, withDefault } from '../../lib/program.ts';
import { orders } from '../import/data.ts';
import { measureImports, ways } from '../import/measure.ts';
import { withoutProc } from '../lib/cpu.ts';
import { fillDatabase, newPartners, type Partner } from '../lib/data.ts';
import { startGenerator } from '../lib/load.ts';
import { createRounds, type Rounds } from '../lib/quiet.ts';
import { type Measurement, report } from '../lib/report.ts';
import { type Engine, engines, newDatabase } from '../lib/service.ts';
import { type Contender, type Cost, floors, ours, peer } from './contenders.ts';
import { measureLatency } from './latency.ts';
import { measureMemory } from './memory.ts';
import { missingPgbench, pgbench } from './pgbench.ts';
import { fillBy, packedContenders } from './release.ts';
import { firstPages } from './requests.ts';
import { measureStart } from './start.ts';

const sections = {
  sqlite: 'list brands and list balances on SQLite, compared with the floor; /docs, compared with a 401',
  postgres: 'the same on Postgres; its own CPU compared with pgbench, and a peer compared with ours',
  latency: 'how long requests take at 70 % of the capacity, with 1,000 connections',
  memory: 'memory of a process on SQLite during 200,000 requests',
  start: 'serve on SQLite, from its start to its first answer, and --version',
  release: 'not by default: the package of this checkout, compared with that of a release',
  import: 'the import compared with the bulk load of each engine (npm run bench -- import)',
} as const;

type Section = keyof typeof sections;
const sectionNames = Object.keys(sections) as Section[];
const defaultSections = sectionNames.filter((name) => name !== 'release');

/** Each may send 10,000 requests a second, less than the load; together they may send more. */
const partners = newPartners(4, 64);
const brandCount = 10_000;

/** The warm-up round is this much longer: V8 compiles during some 20,000 requests. */
const warmUpTimes = 4;

const about = `
Starts each contender as its own process, gives all of them the same load in turn, and prints the CPU time
of the process per request: the median of all rounds after a warm-up round. Ends with status 1 if a goal
falls short.

The floor is bare node:http that sends the same bytes from memory. Our service logs a line for each request
to a file, and counts all requests against the highest rate that a partner can have.

A round counts only if other processes took less than a tenth of a core meanwhile. After any other round the
bench waits for a quiet machine, for up to an hour in all, and repeats it.

Sections:
${sectionNames.map((name) => `  ${name.padEnd(9)} ${sections[name]}`).join('\n')}`;

interface Flags {
  readonly rounds: number;
  readonly seconds: number;
  readonly only: readonly Section[];
  readonly busy: boolean;
  readonly release: string;
}

function sectionsIn(text: string): readonly Section[] | Problem {
  const names = text.split(',');
  const chosen = sectionNames.filter((name) => names.includes(name));
  return chosen.length === new Set(names).size ? chosen : new Problem(`takes ${sectionNames.join(', ')}.`);
}

function missingFor(only: readonly Section[]): string | false {
  const needsServer = (['postgres', 'release', 'import'] as const).some((name) => only.includes(name));
  return (
    withoutProc || (needsServer && withoutOwnServers()) || (only.includes('postgres') && missingPgbench())
  );
}

/** No vacuum or checkpoint runs during the measurement. */
async function filledDatabase(engine: Engine, fill = fillByStore) {
  const settings = { wal_keep_size: '0', checkpoint_timeout: '1d', autovacuum: 'off' };
  const database = await newDatabase(engine, settings);
  const found = await fill(database.url);
  if (engine === 'postgres') await onConnection(database.url, (client) => client.query('vacuum (analyze)'));
  return { ...database, partners: found };
}

async function fillByStore(url: string): Promise<readonly Partner[]> {
  await fillDatabase(url, partners, brandCount);
  return partners;
}

async function measureCosts(contenders: readonly Contender[], { rounds, seconds }: Flags, { quiet }: Rounds) {
  const costs = new Map<Contender, Cost[]>(contenders.map((contender) => [contender, []]));
  const playAll = async (length: number) => {
    const found: Cost[] = [];
    for (const contender of contenders) found.push(await contender.measure(length));
    return found;
  };
  say('Warming up.');
  await playAll(warmUpTimes * seconds);
  for (let round = 1; round <= rounds; round += 1) {
    say(`Round ${round} of ${rounds}.`);
    const found = await quiet(() => playAll(seconds));
    for (const [index, contender] of contenders.entries()) costs.get(contender)!.push(found[index]!);
  }
  return [...costs].flatMap(([contender, all]) => measurementsOf(contender, all));
}

/** A measurement of the process, and one of its database. */
function measurementsOf({ name, goal, databaseGoal }: Contender, costs: readonly Cost[]): Measurement[] {
  const figures = (of: keyof Cost) => costs.flatMap((cost) => cost[of] ?? []);
  const found: Measurement[] = [
    { name, figures: figures('us'), unit: 'µs', ...goal },
    { name: `${name}, in Postgres`, figures: figures('databaseUs'), unit: 'µs', ...databaseGoal },
  ];
  return found.filter((one) => one.figures.length > 0);
}

async function run(flags: Flags): Promise<boolean> {
  const { rounds, only } = flags;
  const counted = createRounds(flags.busy);
  const generator = startGenerator();
  const contenders: Contender[] = [];
  for (const engine of engines.filter((name) => only.includes(name))) {
    const database = await filledDatabase(engine);
    if (contenders.length === 0) contenders.push(...(await floors(generator, database.url, partners)));
    contenders.push(...(await ours(generator, engine, database, partners)));
    if (engine === 'sqlite') continue;
    contenders.push(pgbench(database.url, database.pid!, partners[0]!.id));
    contenders.push(await peer(generator, database, partners));
  }
  if (only.includes('release')) {
    const filled = (engine: Engine, program: string) =>
      filledDatabase(engine, (url) => fillBy(program, url, partners, brandCount));
    contenders.push(...(await packedContenders(generator, flags.release, filled)));
  }
  const measurements = contenders.length === 0 ? [] : await measureCosts(contenders, flags, counted);
  if (only.includes('latency')) {
    const { url } = await filledDatabase('sqlite');
    say('Requests over 1,000 connections.');
    measurements.push(...(await measureLatency(generator, url, partners, flags, counted)));
  }
  if (only.includes('start')) {
    const { url } = await filledDatabase('sqlite');
    say(`Starting serve, and Node alone, ${rounds} times each.`);
    measurements.push(...(await measureStart(url, firstPages(partners)[0]!, rounds, counted)));
  }
  if (only.includes('memory')) {
    const { url } = await filledDatabase('sqlite');
    measurements.push(...(await measureMemory(generator, url, partners)));
  }
  if (only.includes('import')) {
    const plan = { rows: 1_000_000, rounds, engines, orders, ways, inRound: counted.quiet };
    measurements.push(...(await measureImports(plan)));
  }
  return report([...measurements, ...counted.measurements()]);
}

await runProgram({
  usage: 'npm run bench -- speed',
  about,
  options: {
    rounds: withDefault('N', wholeNumber(5, 100), 5, 'rounds after the warm-up'),
    seconds: withDefault(
      'N',
      wholeNumber(1, 60),
      3,
      `length of each load, ${warmUpTimes} times as long in the warm-up`,
    ),
    busy: flag('also count rounds beside other processes; the status is 1'),
    only: optional('NAMES', sectionsIn, 'sections to run, separated by commas (all but release)'),
    release: withDefault(
      'VERSION',
      oneOf(packagedReleases),
      packagedReleases.at(-1)!,
      'release of the section release',
    ),
  },
  missing: ({ only = defaultSections }) => missingFor(only),
  run: ({ only = defaultSections, ...flags }) => run({ only, ...flags }),
});
