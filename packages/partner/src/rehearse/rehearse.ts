import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { commandLineBounds as bounds } from '@partner-network/common/bounds/common';
import { command, exitUsage, printReport } from '@partner-network/common/command-line/command';
import {
  addedIn,
  defaulted,
  flag,
  oneOf,
  optional,
  plainText,
  repeated,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { table } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { createStopSignal } from '@partner-network/common/process';
import { basePath, type ListingName } from '@partner-network/contract/operations';
import {
  rehearsalsBounds,
  scenarioList,
  scenarioNames,
  scenarios,
  type Verdict,
} from '@partner-network/service/rehearsals/scenarios';
import { junitXml, writeReport } from '../reports.ts';
import { finalVerdict } from './final-verdict.ts';
import { openPrivateSandbox, rehearsedRecords } from './private-sandbox.ts';

const listings = oneOf(['brands', 'balances']);
const seconds = wholeNumber(1, bounds.mostRehearsalSeconds);
/** The exit status if nothing could be judged. */
const exitUntested = 3;
/** As a shell reports a program that Ctrl-C ended. */
const exitInterrupted = 130;

export const rehearse = command({
  program: {
    name: 'COMMAND',
    help:
      'program to run once per scenario, with its arguments; ' +
      'without it, a sandbox stays open for your own requests',
    isOptional: true,
  },
  options: addedIn('0.2.0', {
    scenario: repeated('NAME', oneOf(scenarioNames), 'scenario to rehearse; without it, all of them', []),
    listing: defaulted('brands|balances', listings, 'brands', 'listing to rehearse with'),
    timeout: defaulted('SECONDS', seconds, 60, 'time after which the program is killed'),
    junit: optional('FILE', plainText(bounds.pathCharacters), 'also write a JUnit report'),
    json: flag('print one JSON document'),
    list: flag('list the scenarios and end'),
    verbose: flag('print the whole output of a failed program, not only its last line'),
  }),
  conflicts: ({ listing, scenario }) => {
    const others = scenario.filter((name) => (scenarios[name].listing ?? listing) !== listing);
    return others.map((name) => `--scenario ${name} needs --listing balances.`);
  },
  run: async ({ scenario, listing, timeout, junit, json, list, verbose }, program, output) => {
    const chosen = scenarioList.filter(({ name, listing: only = listing }) =>
      scenario.length === 0 ? list || only === listing : scenario.includes(name),
    );
    if (list) {
      const text = table(chosen, [
        ['SCENARIO', ({ name }) => name, 'whole'],
        ['WHAT HAPPENS', ({ happens }) => happens],
        ['WHAT A CLIENT MUST DO', ({ expects }) => expects],
      ]);
      return printReport({ value: { scenarios: chosen }, text }, json, output);
    }
    const isByHand = program.length === 0;
    if (isByHand && (json || junit !== undefined))
      throw new OperatorError('--json and --junit need a command after --.', { exitStatus: exitUsage });
    // Before the program runs. It also removes an old report.
    writeReport(junit, '');

    const stop = createStopSignal();
    await stop.listen();
    const ending = new AbortController();
    const interrupted = new OperatorError('Interrupted.', { exitStatus: exitInterrupted });
    // A closed terminal would leave the programs and the folder behind.
    process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
    const stopped = stop.signal.then(() => ending.abort(interrupted));
    await using opened = new AsyncDisposableStack();
    const rehearsals = await openPrivateSandbox(chosen, listing, opened);
    if (isByHand) {
      output.answer(greeting(rehearsals));
      await stopped;
      return;
    }
    const results: Result[] = [];
    const queue = rehearsals.entries();
    async function work(): Promise<void> {
      for (const [index, { variables, resultFile, verdict }] of queue) {
        ending.signal.throwIfAborted();
        const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(timeout * 1_000)]);
        // Without the file of another key, which a program may prefer, and without our own compiled code.
        const { PARTNER_NETWORK_API_KEY_FILE: _, NODE_COMPILE_CACHE: __, ...own } = process.env;
        const env = { ...own, ...variables, REHEARSAL_RESULT: resultFile };
        const ended = await runProgram(program, env, signal, verbose);
        ending.signal.throwIfAborted();
        const final = finalVerdict(await verdict(), resultFile, rehearsedRecords);
        const result = { ...ended, ...final, isCounted: existsSync(resultFile) };
        results[index] = result;
        if (process.stderr.isTTY)
          output.remark(`${result.scenario}: ${isPassed(result) ? 'passed' : 'failed'}.`);
      }
    }
    await Promise.all(Array.from({ length: bounds.rehearsedAtOnce }, work)).finally(() => ending.abort());
    if (results.every(({ requests }) => requests.length === 0)) {
      const names = Object.keys(rehearsals[0]!.variables).join(', ');
      const needed = `It must use ${names}, and add paths such as /${listing} to the whole base URL.`;
      const message = `No request with the key arrived at the base URL: ${results[0]!.end}\n${needed}`;
      throw new OperatorError(message, { exitStatus: exitUntested });
    }
    const { junitText, remarks, ...report } = reportOf(listing, results);
    for (const text of remarks) output.remark(text);
    writeReport(junit, junitText);
    printReport(report, json, output);
  },
});

/** Runs a program to its end. An abort kills it with everything that it started. */
async function runProgram(
  [file = '', ...words]: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  verbose: boolean,
) {
  const startedMs = performance.now();
  // Detached: a process group of its own, so that a shell's children are killed with it.
  const child = spawn(file, words, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const streams = [child.stdout, child.stderr];
  let output = '';
  for (const stream of streams) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-bounds.keptOutputCharacters);
    });
  }
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group has ended.
    }
  };
  signal.addEventListener('abort', killGroup);
  child.once('exit', () => {
    // Ends the processes that it left in the background, and waits for the rest of its output.
    killGroup();
    setTimeout(() => streams.map((stream) => stream.destroy()), bounds.outputWaitMs).unref();
  });
  try {
    const [status, killedBy] = await once(child, 'close');
    const ending = killedBy === null ? `exited with status ${status}` : `was ended by ${killedBy}`;
    const how = signal.aborted ? 'was killed because of --timeout' : ending;
    const shown = verbose ? output.trimEnd() : lastLine(output);
    const end = `the command ${how} and printed ${shown === '' ? 'nothing.' : `last:\n${shown}`}`;
    return { end, isKilled: signal.aborted, seconds: (performance.now() - startedMs) / 1_000 };
  } catch (error) {
    const reason = `${(error as Error).message}. Check its name, or give its path.`;
    throw new OperatorError(`Cannot start "${file}": ${reason}`, { exitStatus: exitUntested });
  } finally {
    signal.removeEventListener('abort', killGroup);
  }
}

/** The last line that says something. Node prints a stack, fields and its version after an error. */
function lastLine(output: string): string {
  const lines = output.trimEnd().split('\n');
  return lines.findLast((line) => /^(?!Node\.js v)[^\s{}]/.test(line)) ?? lines.at(-1)!;
}

/** How a program ended in one scenario, and what the sandbox says about it. */
type Result = Awaited<ReturnType<typeof runProgram>> & Verdict & { readonly isCounted: boolean };

const isPassed = ({ promises }: Result) => promises.every(({ verdict }) => verdict === 'kept');

/** A table with the promises that are not kept below each scenario, and the same in other forms. */
function reportOf(listing: ListingName, results: readonly Result[]) {
  const judged = results.map((result) => {
    const { promises } = result;
    const unkept = promises.filter(({ verdict }) => verdict !== 'kept');
    // Promises with the same reason share a line.
    const alike = Object.values(Object.groupBy(unkept, ({ reason }) => reason));
    const broken = alike.map((group = []) => {
      const names = group.map(({ name }) => name).join(', ');
      return `${group[0]!.verdict}: ${names}. ${group[0]!.reason}`;
    });
    return { ...result, broken, passed: isPassed(result) };
  });
  const failed = judged.filter(({ passed }) => !passed);
  const requestsOf = ({ length }: Result['requests']) =>
    length < rehearsalsBounds.runRequests ? `${length}` : `${length}+`;
  const [heading, ...rows] = table(
    judged,
    [
      ['SCENARIO', ({ scenario }) => scenario],
      ['RESULT', ({ passed }) => (passed ? 'passed' : 'failed'), 'state'],
      ['REQUESTS', ({ requests }) => requestsOf(requests), 'number'],
      ['SECONDS', ({ seconds }) => seconds.toFixed(1), 'number'],
    ],
    Infinity,
  ).split('\n');
  const lines = rows.flatMap((row, index) => [row, ...judged[index]!.broken.map((line) => `  ${line}`)]);
  const cases = judged.map(({ scenario: name, seconds, broken }) => {
    return { group: `rehearse.${listing}`, name, seconds, failure: broken.join('\n') || undefined };
  });
  const count = `Failed: ${failed.length} of ${results.length} scenarios.`;
  if (failed.length === 0) lines.push(`Passed: ${results.length} of ${results.length} scenarios.`);
  if (!results.some(({ isCounted }) => isCounted))
    lines.push('Records were not compared: write {"records":N} to the file that REHEARSAL_RESULT names.');
  const remedy = `See all output of one with --verbose --scenario ${failed[0]?.scenario}.`;
  const shown = judged.map(({ scenario, passed, promises }) => ({ scenario, passed, promises }));
  return {
    value: { listing, scenarios: shown },
    text: [heading, ...lines].join('\n'),
    failure: failed.length === 0 ? undefined : `${count} ${remedy}`,
    junitText: junitXml('partner-network rehearse', cases),
    remarks: judged
      .filter(({ passed, isKilled }) => !passed || isKilled)
      .map(({ scenario, end }) => `${scenario}: ${end}`),
  };
}

/** What somebody needs to rehearse by hand. The key of one scenario works in all of them. */
function greeting(rehearsals: Awaited<ReturnType<typeof openPrivateSandbox>>): string {
  const { name, url, variables } = rehearsals.at(-1)!;
  const addresses = rehearsals.map((one) => `${one.name.padEnd(16)}${one.url}${basePath}`);
  const values = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
  return `${[...addresses, '', ...values].join('\n')}

See which promises were kept, for example at ${url}, with the key.
Add a dot and a name to a scenario for a new run, such as ${name}.second.
Press Ctrl-C to stop.
`;
}
