import { basePath, type ListingName } from '@partner-network/contract/operations';
import { commandLineBounds } from '../../bounds/command-line.ts';
import type { Report } from '../../command-line/command.ts';
import { junitXml } from '../../command-line/junit.ts';
import { table } from '../../command-line/table.ts';
import type { ScenarioName, Verdict } from '../../rehearsals/scenarios.ts';
import type { Ended } from './program.ts';

/** How a program did in one scenario. */
export interface Result {
  readonly verdict: Verdict;
  readonly ended: Ended;
}

/** One line for each promise that is not kept, and one for a program that had to be killed. */
function faultsOf({ verdict: { promises }, ended }: Result): string[] {
  const unkept = promises.filter(({ verdict }) => verdict !== 'kept');
  const lines = unkept.map(({ name, verdict, reason }) => `${verdict}: ${name}. ${reason}`);
  return ended.isLate && lines.length > 0 ? [...lines, 'The command was killed after --timeout.'] : lines;
}

const isPassed = (result: Result) => faultsOf(result).length === 0;

/** A table with the faults below each failed scenario. */
export function reportOf(listing: ListingName, results: readonly Result[]): Report {
  const [heading, ...rows] = table(results, {
    SCENARIO: ({ verdict }) => verdict.scenario,
    RESULT: (result) => (isPassed(result) ? 'passed' : 'failed'),
    REQUESTS: ({ verdict }) => String(verdict.requests.length),
    SECONDS: ({ ended }) => ended.seconds.toFixed(1),
  }).split('\n');
  const lines = rows.flatMap((row, index) => [row, ...faultsOf(results[index]!).map((line) => `  ${line}`)]);
  const scenarios = results.map((result) => {
    const { scenario, promises } = result.verdict;
    return { scenario, passed: isPassed(result), promises };
  });
  const failed = scenarios.filter(({ passed }) => !passed);
  const count = `Failed: ${failed.length} of ${results.length} scenarios.`;
  const remedy = `Correct the program, and run one scenario alone with --scenario ${failed[0]?.scenario}.`;
  const failure = failed.length === 0 ? undefined : `${count} ${remedy}`;
  return { value: { listing, scenarios }, text: [heading, ...lines].join('\n'), failure };
}

export function junitOf(listing: ListingName, results: readonly Result[]): string {
  const cases = results.map((result) => {
    const { verdict, ended } = result;
    const failure = faultsOf(result).join('\n') || undefined;
    return { group: `rehearse.${listing}`, name: verdict.scenario, seconds: ended.seconds, failure };
  });
  return junitXml('partner-network rehearse', cases);
}

/** The last lines that the program printed in each failed scenario. */
export function outputOfFailed(results: readonly Result[]): string[] {
  const failed = results.filter((result) => !isPassed(result));
  return failed.map((result) => `${result.verdict.scenario}: ${endOf(result)}`);
}

export function endOf({ ended: { how, output } }: Result): string {
  const lines = output.split('\n').slice(-commandLineBounds.shownOutputLines);
  return `the command ${how} and printed ${output === '' ? 'nothing.' : `last:\n${lines.join('\n')}`}`;
}

/** What somebody needs to rehearse by hand, with the same key in every scenario. */
export function greeting(
  names: readonly ScenarioName[],
  rehearsals: string,
  listing: ListingName,
  { PARTNER_NETWORK_BASE_URL: _, ...variables }: Readonly<Record<string, string>>,
): string {
  const example = names.find((name) => name !== 'steady') ?? 'steady';
  const { PARTNER_NETWORK_API_KEY: key, PARTNER_NETWORK_CUSTOMER_ID: customer } = variables;
  const curl = `curl -i -H 'Authorization: Bearer ${key}' '${rehearsals}/${example}`;
  const query = customer === undefined ? '' : `?customer_id=${customer}&type=CHECKING`;
  return `Each scenario has its own base URL:

${table(names, { SCENARIO: (name) => name, 'BASE URL': (name) => `${rehearsals}/${name}${basePath}` })}

${table(Object.entries(variables), { VARIABLE: ([name]) => name, VALUE: ([, value]) => value })}

Request the first page. Then request the next one with its cursor, and so on:

  ${curl}${basePath}/${listing}${query}'

See which promises were kept:

  ${curl}'

Add a dot and a name to a scenario for a new run, such as ${example}.second.
"partner-network rehearse --list" says what happens in each scenario.
Press Ctrl-C to stop.
`;
}
