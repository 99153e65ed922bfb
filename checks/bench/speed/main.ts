/** Measures the CPU time of an answer, side by side with bare HTTP and with other frameworks. */
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { optional, Problem, wholeNumber } from '../../../packages/common/src/command-line/options.ts';
import { onConnection, withoutOwnServers } from '../../../packages/testkit/servers/postgres-start.ts';
import { installTools } from '../../lib/install-tools.ts';
import { print, runProgram, say, withDefault } from '../../lib/program.ts';
import { measureShares } from '../import/measure.ts';
import { startGenerator } from '../lib/load.ts';
import {
  type Contender,
  type Cost,
  floors,
  ofLarge,
  ours,
  refused,
  type Stage,
} from './contenders/contenders.ts';
import { peersUnderLoad } from './contenders/peers.ts';
import { missingPgbench, pgbench } from './contenders/pgbench.ts';
import { judge, type Measured } from './goals.ts';
import { measureMemory } from './memory.ts';
import { chartOfRows, contendersTable, goalsTable, remarksOf, resultsOf, rowsOf } from './report.ts';
import { firstPages, middlePages, oneBalances } from './requests.ts';
import { engineNames, openServices, partnerCount, ratePastLoad, startService } from './services.ts';
import { measureStart } from './start.ts';

const sections = {
  embedded: 'list brands and list balances on the embedded database, compared with the floor',
  postgres: 'the same on Postgres, and its own CPU compared with pgbench',
  peers: 'other frameworks that serve the same pages',
  size: 'the middle page of 1,000,000 brands compared with the first page of 10,000',
  refused: 'requests answered with 401 and 429, compared with admitted requests',
  memory: 'memory of a process on the embedded database during 200,000 requests',
  start: 'serve on the embedded database, from its start to its first answer',
  import: 'the import compared with the bulk load of each engine (npm run bench -- import)',
} as const;

type Section = keyof typeof sections;
const sectionNames = Object.keys(sections) as Section[];

const needsPostgres = (chosen: readonly Section[]) =>
  chosen.some((name) => !['embedded', 'memory', 'start'].includes(name));

const resultsFile = new URL('../results.json', import.meta.url);
const chartFile = new URL('../../../docs/explanation/operators/bench.svg', import.meta.url);

/** The warm-up round is this much longer: V8 compiles during some 20,000 requests. */
const warmUpTimes = 4;

const rate = ratePastLoad.toLocaleString('en');

const about = `
Starts each contender as its own process, gives all of them the same load in turn, and prints the CPU time
of the process per request: the median of all rounds after a warm-up round. Ends with status 1 if a goal
falls short. A run with all sections writes checks/bench/results.json and
docs/explanation/operators/bench.svg.

The floor is bare node:http that sends the same bytes from memory. Our service logs a line for each request
to a file, and counts all requests against the highest rate that a partner can have, ${rate} a second.
${partnerCount} partners together may send more than the load; they share the 10,000 or 1,000,000 brands.

Sections:
${sectionNames.map((name) => `  ${name.padEnd(9)} ${sections[name]}`).join('\n')}`;

interface Flags {
  readonly rounds: number;
  readonly seconds: number;
  readonly only: readonly Section[];
}

function sectionsIn(text: string): readonly Section[] | Problem {
  const names = text.split(',');
  const chosen = sectionNames.filter((name) => names.includes(name));
  return chosen.length === new Set(names).size ? chosen : new Problem(`takes ${sectionNames.join(', ')}.`);
}

function missingFor(only: readonly Section[]): string | false {
  if (process.platform !== 'linux') return 'This needs Linux, whose /proc reports the CPU time of a process.';
  return (needsPostgres(only) && withoutOwnServers()) || (only.includes('postgres') && missingPgbench());
}

/** All contenders of these sections, each once. Contenders that are compared run one after the other. */
async function contendersOf(stage: Stage, chosen: readonly Section[]): Promise<Contender[]> {
  const has = (...names: Section[]) => names.some((name) => chosen.includes(name));
  const found: Contender[] = has('embedded', 'postgres', 'peers') ? await floors(stage) : [];
  for (const engine of engineNames) {
    const isCompared = has('size', 'refused') || (engine === 'postgres' && has('peers'));
    if (has(engine)) found.push(...(await ours(stage, engine)));
    else if (isCompared) found.push((await ours(stage, engine))[0]!);
    if (engine === 'postgres' && has('postgres')) {
      found.push(pgbench(await stage.services.database('postgres', 'small'), stage.services.partners));
    }
    if (has('size')) found.push(await ofLarge(stage, engine));
    if (has('refused')) found.push(...(await refused(stage, engine)));
  }
  if (has('peers')) found.push(...(await peersUnderLoad(stage)));
  return found;
}

async function measureCosts(contenders: readonly Contender[], { rounds, seconds }: Flags) {
  const costs = new Map<string, Cost[]>(contenders.map(({ id }) => [id, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const title = round === 0 ? 'Warming up' : `Round ${round} of ${rounds}`;
    if (!process.stderr.isTTY && contenders.length > 0) say(`${title}.`);
    for (const { id, name, measure } of contenders) {
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${title}: ${name}`);
      const cost = await measure(round === 0 ? warmUpTimes * seconds : seconds);
      if (round > 0) costs.get(id)!.push(cost);
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return costs;
}

async function measureOthers({ services, generator }: Stage, { rounds, only }: Flags) {
  const { partners, database } = services;
  const others: { -readonly [Name in keyof Measured]?: Measured[Name] } = {};
  if (only.includes('start')) {
    const { url } = await database('embedded', 'small');
    say(`Starting serve, and Node alone, ${rounds} times each.`);
    others.start = await measureStart(url, firstPages(partners)[0]!, rounds);
  }
  if (only.includes('memory')) {
    const { url } = await database('embedded', 'small');
    // The first start compiles everything, which takes tens of megabytes more; later starts do not.
    const first = await startService(url, ratePastLoad);
    const middle = await middlePages(first.port, partners, 'small');
    await first.end();
    const requests = [...firstPages(partners), ...middle, ...oneBalances(partners)];
    const service = await startService(url, ratePastLoad);
    others.memory = await measureMemory(service, requests, generator, (quarter) =>
      say(`Memory: ${quarter} of 4 quarters of the requests.`),
    );
  }
  if (only.includes('import')) others.imports = await measureShares(rounds);
  return others;
}

async function circumstancesOf({ services }: Stage, { rounds, seconds }: Flags) {
  const { url } = await services.database('postgres', 'small');
  const { rows } = await onConnection(url, (client) => client.query('show server_version'));
  return {
    cpu: cpus()[0]?.model ?? 'CPU',
    cores: availableParallelism(),
    node: process.versions.node,
    sqlite: process.versions.sqlite!,
    postgres: rows[0].server_version,
    load: 'bench/lib/load-generator.ts',
    rounds,
    seconds,
  };
}

async function run(flags: Flags): Promise<boolean> {
  if (flags.only.includes('peers')) installTools('checks/bench');
  const stage: Stage = { services: openServices(), generator: startGenerator() };
  const contenders = await contendersOf(stage, flags.only);
  const costs = await measureCosts(contenders, flags);
  const measured: Measured = { costs, ...(await measureOthers(stage, flags)) };
  const rows = rowsOf(contenders, measured);
  const verdicts = judge(measured);
  if (rows.length > 0) print(`${contendersTable(rows)}\n`);
  print(goalsTable(verdicts));
  for (const remark of remarksOf(measured)) print(remark);
  if (flags.only.length === sectionNames.length) {
    const circumstances = await circumstancesOf(stage, flags);
    writeFileSync(resultsFile, resultsOf(new Date(), circumstances, rows, verdicts));
    writeFileSync(chartFile, chartOfRows(rows));
    say('Written: checks/bench/results.json and docs/explanation/operators/bench.svg.');
  } else say('Only some sections were run. results.json and bench.svg stay unchanged.');
  return verdicts.every(({ isMet }) => isMet);
}

await runProgram({
  usage: 'npm run bench -- speed',
  about,
  options: {
    rounds: withDefault('N', wholeNumber(1, 100), 5, 'rounds after the warm-up'),
    seconds: withDefault(
      'N',
      wholeNumber(1, 60),
      3,
      `length of each load, ${warmUpTimes} times as long in the warm-up`,
    ),
    only: optional('NAMES', sectionsIn, 'sections to run, separated by commas (all)'),
  },
  missing: ({ only = sectionNames }) => missingFor(only),
  run: ({ only = sectionNames, rounds, seconds }) => run({ only, rounds, seconds }),
});
