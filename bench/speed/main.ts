/** What an answer of ours costs, side by side with bare HTTP and with what one would take instead. */
import { writeFileSync } from 'node:fs';
import { withoutOwnServers } from '../../packages/testkit/servers/postgres-start.ts';
import type { Given } from '../lib/flags.ts';
import { machine } from '../lib/machine.ts';
import { print, runProgram, say } from '../lib/program.ts';
import { onConnection } from '../size/data.ts';
import type { Contender, Cost, Stage } from './contenders/contenders.ts';
import { installPeers } from './contenders/peer-processes.ts';
import { lackOfPgbench } from './contenders/pgbench.ts';
import { partnerCount } from './data.ts';
import { judge, type Measured } from './goals.ts';
import { measureImport } from './import.ts';
import { lackOfLoadTool, loadTool } from './load.ts';
import { measureMemory } from './memory.ts';
import {
  type Circumstances,
  chartOfRows,
  contendersTable,
  goalsTable,
  remarksOf,
  resultsOf,
  rowsOf,
} from './report.ts';
import { firstPages, middlePages, oneBalances } from './requests.ts';
import { contendersOf, needsPostgres, type Section, sectionNames, sections } from './sections.ts';
import { openServices, ratePastLoad, startService } from './services.ts';
import { measureStart } from './start.ts';

const resultsFile = new URL('../results.json', import.meta.url);
const chartFile = new URL('../../docs/bench.svg', import.meta.url);

/** How many times as long as the others the round that does not count is. */
const warmUpTimes = 4;

const rate = ratePastLoad.toLocaleString('en');

const help = `Usage: node bench/speed/main.ts [FLAGS]

Starts each contender as a process of its own, gives all of them the same load in turn, and prints the CPU
time of the process for a request, the median of all rounds after one that does not count. Ends with
status 1 when a goal falls short. Writes bench/results.json and docs/bench.svg when it ran as a whole.

The floor is bare node:http that sends the same bytes from memory. Ours logs a line a request to a file,
and counts all of them against the highest rate that a partner can have, ${rate} a second.
${partnerCount} partners together may ask for more than the load does; the 10,000 or 1,000,000 brands are
those of all ${partnerCount} together.

  --rounds N    that count, 5 unless given
  --seconds N   of each load, 3 unless given; ${warmUpTimes} times as long in the round that does not count,
                for V8 compiles during some 20,000 requests, which cost 2 to 3 times as much
  --only NAMES  some of the sections, with commas between:
${sectionNames.map((name) => `                ${name.padEnd(9)} ${sections[name]}`).join('\n')}
  --help        this text`;

interface Flags {
  readonly rounds: number;
  readonly seconds: number;
  readonly chosen: readonly Section[];
}

function readFlags(given: Given<'rounds' | 'seconds' | 'only'>): Flags {
  const names = given.text('only')?.split(',') ?? sectionNames;
  const chosen = sectionNames.filter((name) => names.includes(name));
  const isKnown = names.every((name) => sectionNames.some((section) => section === name));
  if (!isKnown) given.refuse(`--only takes ${sectionNames.join(', ')}, with commas between.`);
  return {
    rounds: given.wholeNumber('rounds', 1, 100, 5),
    seconds: given.wholeNumber('seconds', 1, 60, 3),
    chosen,
  };
}

function lackFor({ chosen }: Flags): string | false {
  if (process.platform !== 'linux') return 'This takes Linux, whose /proc tells what a process has used.';
  return (
    // With the peers comes a load tool.
    (!chosen.includes('peers') && lackOfLoadTool()) ||
    (needsPostgres(chosen) && withoutOwnServers()) ||
    (chosen.includes('postgres') && lackOfPgbench())
  );
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

async function measureOthers({ services, tool }: Stage, { rounds, chosen }: Flags) {
  const { partners, database } = services;
  const has = (name: Section) => chosen.includes(name);
  const others: { -readonly [Name in keyof Measured]?: Measured[Name] } = {};
  if (has('start')) {
    const { url } = await database('embedded', 'small');
    say(`Starting serve, and Node alone, ${rounds} times each.`);
    others.start = await measureStart(url, firstPages(partners)[0]!, rounds);
  }
  if (has('memory')) {
    const { url } = await database('embedded', 'small');
    // Whoever compiles all by itself holds tens of megabytes more. That is for the first start alone.
    const first = await startService(url, ratePastLoad);
    const middle = await middlePages(first.port, partners, 'small');
    await first.end();
    const requests = [...firstPages(partners), ...middle, ...oneBalances(partners)];
    const onQuarter = (quarter: number) => say(`Memory: ${quarter} of 4 quarters of the requests.`);
    others.memory = await measureMemory(await startService(url, ratePastLoad), requests, tool, onQuarter);
  }
  if (has('import')) others.imports = await measureImport(rounds);
  return others;
}

async function postgresVersion({ services }: Stage): Promise<string> {
  const { url } = await services.database('postgres', 'small');
  return onConnection(
    url,
    async (client) => (await client.query('show server_version')).rows[0].server_version,
  );
}

async function circumstancesOf(stage: Stage, { rounds, seconds }: Flags): Promise<Circumstances> {
  return {
    ...machine(),
    node: process.versions.node,
    sqlite: process.versions.sqlite!,
    postgres: await postgresVersion(stage),
    load: stage.tool.name,
    rounds,
    seconds,
  };
}

async function run(flags: Flags): Promise<boolean> {
  const lack = flags.chosen.includes('peers') && installPeers();
  if (lack) {
    say(lack);
    return false;
  }
  const stage: Stage = { services: openServices(), tool: loadTool() };
  const contenders = await contendersOf(stage, flags.chosen);
  say(`Load by ${stage.tool.name}. Ours logs to a file, and lets a partner ask ${rate} times a second.`);
  const costs = await measureCosts(contenders, flags);
  const measured: Measured = { costs, ...(await measureOthers(stage, flags)) };
  const rows = rowsOf(contenders, measured);
  const verdicts = judge(measured);
  if (rows.length > 0) print(`${contendersTable(rows)}\n`);
  print(goalsTable(verdicts));
  for (const remark of remarksOf(measured)) print(remark);
  if (flags.chosen.length === sectionNames.length) {
    const circumstances = await circumstancesOf(stage, flags);
    writeFileSync(resultsFile, resultsOf(new Date(), circumstances, rows, verdicts));
    writeFileSync(chartFile, chartOfRows(rows));
    say('Written: bench/results.json and docs/bench.svg.');
  } else say('Only some sections were run: bench/results.json and docs/bench.svg stay as they are.');
  return verdicts.every(({ isMet }) => isMet);
}

await runProgram({
  help,
  options: { rounds: 'value', seconds: 'value', only: 'value' },
  readFlags,
  lackFor,
  run,
});
