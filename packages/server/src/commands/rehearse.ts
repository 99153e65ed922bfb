import { basePath, type ListingName } from '@partner-network/contract/operations';
import { commandLineBounds as bounds } from '../bounds/command-line.ts';
import { command, exitUsage, printReport, type Report } from '../command-line/command.ts';
import {
  addedIn,
  defaulted,
  flag,
  oneOf,
  optional,
  plainText,
  repeated,
  wholeNumber,
} from '../command-line/options.ts';
import { writeReport } from '../command-line/report-file.ts';
import { table } from '../command-line/table.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { createStopSignal } from '../lib/signals.ts';
import { type Scenario, type ScenarioName, scenarioNames, scenarios } from '../rehearsals/scenarios.ts';
import { openPrivateSandbox, variablesOf, verdictAt } from './rehearse/private-sandbox.ts';
import { exitUntested, runProgram } from './rehearse/program.ts';
import { endOf, greeting, junitOf, outputOfFailed, type Result, reportOf } from './rehearse/report.ts';

const seconds = wholeNumber(1, bounds.mostRehearsalSeconds);
/** As a shell reports a program that Ctrl-C ended. */
const exitInterrupted = 130;

export const rehearse = command({
  program: {
    name: 'COMMAND',
    help: 'program to run once per scenario, with its arguments; without it, rehearse by hand',
    isOptional: true,
  },
  options: addedIn('0.2.0', {
    scenario: repeated('NAME', oneOf(scenarioNames), 'scenario to rehearse; without it, all of them', []),
    listing: defaulted(
      'brands|balances',
      oneOf(['brands', 'balances']),
      'brands',
      'listing to rehearse with',
    ),
    timeout: defaulted('SECONDS', seconds, 60, 'time after which the program is killed'),
    junit: optional('FILE', plainText(bounds.pathCharacters), 'also write a JUnit report'),
    json: flag('print one JSON document'),
    list: flag('list the scenarios and end'),
  }),
  conflicts: ({ listing, scenario }) => {
    const others = scenario.filter((name) => !appliesTo(name, listing));
    return others.map((name) => `--scenario ${name} needs --listing balances.`);
  },
  run: async ({ scenario, listing, timeout, junit, json, list }, program, output) => {
    const names = scenarioNames.filter((name) =>
      scenario.length === 0 ? list || appliesTo(name, listing) : scenario.includes(name),
    );
    if (list) return printReport(listOf(names), json, output);
    const isByHand = program.length === 0;
    if (isByHand && (json || junit !== undefined))
      throw new OperatorError('--json and --junit need a command after --.', { exitStatus: exitUsage });
    // Before the program runs. It also removes an old report.
    writeReport(junit, '');

    const stop = createStopSignal();
    await stop.listen();
    await using opened = new AsyncDisposableStack();
    const { rehearsals, accounts } = await openPrivateSandbox(isByHand ? ['By hand'] : names, opened);
    const variables = accounts.map((account, index) =>
      variablesOf(account, `${rehearsals}/${names[index]}${basePath}`, listing),
    );
    if (isByHand) {
      output.answer(greeting(names, rehearsals, listing, variables[0]!));
      await stop.signal;
      return;
    }
    const results = await inParallel(names, stop.signal, async (name, signal) => {
      const ownVariables = variables[names.indexOf(name)]!;
      const ended = await runProgram(program, { ...process.env, ...ownVariables }, timeout * 1_000, signal);
      const verdict = await verdictAt(`${rehearsals}/${name}`, ownVariables.PARTNER_NETWORK_API_KEY);
      return { verdict, ended };
    });
    if (results.every(({ verdict }) => verdict.requests.length === 0)) {
      const needed = `It must read the variables ${Object.keys(variables[0]!).join(', ')}.`;
      const message = `No request arrived: ${endOf(results[0]!)}\n${needed}`;
      throw new OperatorError(message, { exitStatus: exitUntested });
    }
    for (const text of outputOfFailed(results)) output.remark(text);
    writeReport(junit, junitOf(listing, results));
    printReport(reportOf(listing, results), json, output);
  },
});

function appliesTo(name: ScenarioName, listing: ListingName): boolean {
  const { listing: only }: Scenario = scenarios[name];
  return only === undefined || only === listing;
}

function listOf(names: readonly ScenarioName[]): Report {
  const listed = names.map((name) => ({ name, ...scenarios[name] }));
  const text = table(listed, {
    SCENARIO: ({ name }) => name,
    'WHAT HAPPENS': ({ happens }) => happens,
    'WHAT A CLIENT MUST DO': ({ expects }) => expects,
  });
  return { value: { scenarios: listed }, text };
}

/** Runs several scenarios at a time, the slowest first. A failure or a stop signal ends all of them. */
async function inParallel(
  names: readonly ScenarioName[],
  stop: Promise<unknown>,
  runOne: (name: ScenarioName, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<ScenarioName, Result>();
  const queue = names.toSorted((left, right) => Number(right === 'stalled') - Number(left === 'stalled'));
  const ending = new AbortController();
  async function work(): Promise<void> {
    for (let name = queue.shift(); name !== undefined && !ending.signal.aborted; name = queue.shift())
      results.set(name, await runOne(name, ending.signal));
  }
  const interrupted = stop.then(() => {
    throw new OperatorError('Interrupted: the command was killed.', { exitStatus: exitInterrupted });
  });
  try {
    await Promise.race([interrupted, Promise.all(Array.from({ length: bounds.rehearsedAtOnce }, work))]);
  } finally {
    ending.abort();
  }
  return names.map((name) => results.get(name)!);
}
