import { readFileSync } from 'node:fs';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { command, printReport } from '@partner-network/common/command-line/command';
import {
  addedIn,
  defaulted,
  flag,
  httpUrl,
  type Option,
  oneOf,
  optional,
  Problem,
  plainText,
  variableOnly,
} from '@partner-network/common/command-line/options';
import { createProgress } from '@partner-network/common/command-line/progress';
import { table } from '@partner-network/common/command-line/table';
import { OperatorError } from '@partner-network/common/errors';
import { counted, echo } from '@partner-network/common/text';
import { lengths } from '@partner-network/contract/limits';
import { basePath } from '@partner-network/contract/operations';
import { type Supplied, type Variable, variables } from '../conformance/probe.ts';
import { type CaseResult, failureOf, htmlOf } from '../conformance/report.ts';
import { allCases, casesOf, runCases } from '../conformance/run.ts';
import { Untestable } from '../conformance/send.ts';
import { type JunitCase, junitXml, writeReport } from '../reports.ts';
import { type Address, apiKey, foreignAnswer, keyVariable, tooLate, whyNoAnswer } from './call.ts';

const file = plainText(commandLineBounds.pathCharacters);

/** Each variable as an option that has no flag. */
const fromVariables = Object.fromEntries(
  Object.entries(variables).map(([variable, help]) => {
    const read = variable.endsWith('_KEY') ? apiKey : plainText(lengths.grantId);
    if (variable !== keyVariable) return [variable, variableOnly(variable, read, help)];
    const missing = 'is not set. Set it to an API key with both scopes.';
    return [variable, { ...variableOnly(variable, read, help, { missing }), hasFile: true }];
  }),
) as Record<Variable, Option<string | undefined>>;

export const conformance = command({
  arguments: [
    { name: 'BASE_URL', help: `address of the deployment, which ends in ${basePath}`, read: baseUrl },
  ],
  options: addedIn('0.2.0', {
    profile: defaulted(
      'NAME',
      oneOf(['specification', 'decisions']),
      'decisions',
      'specification: what the specification says; decisions: also the codes, headers and limits of this service',
    ),
    burst: flag('also check the rate limit, with many requests at once'),
    json: flag('print the result as JSON'),
    junit: optional('FILE', file, 'also write the result as JUnit XML'),
    html: optional('FILE', file, 'also write the result as a page for a browser'),
    'expected-failures': optional(
      'FILE',
      listedCases,
      'cases that may fail, one id a line; # begins a comment',
    ),
    ...fromVariables,
  }),
  run: async (values, [text = ''], output) => {
    const { profile, burst: isBurst, json, junit, html, 'expected-failures': listed, ...variables } = values;
    const expectedFailures = listed ?? new Set<string>();
    const isSet = ([, value]: readonly [string, unknown]) => value !== undefined;
    const supplied: Supplied = Object.fromEntries(Object.entries(variables).filter(isSet));
    // Before the run. It also removes old reports.
    for (const path of [junit, html]) writeReport(path, '');
    const url = baseUrl(text) as string;
    const cases = casesOf(profile);
    using progress = createProgress(process.stderr);
    progress.step(`waiting for ${url}`);
    const onCase = (id: string, number: number) => progress.step(`case ${number} of ${cases.length}: ${id}`);
    const run = { baseUrl: url, supplied, isBurst, expectedFailures, onCase };
    const results = await runCases(cases, run).catch((error) => {
      if (!(error instanceof Untestable)) throw error;
      const message = whyUntested(error, { url, setBy: 'BASE_URL' }).join('\n');
      throw new OperatorError(message, { cause: error, exitStatus: 3 });
    });
    progress.clear();
    const failed = results.filter(({ status }) => status === 'failed').length;
    const verdict = `${url} ${failed > 0 ? 'does not conform' : 'conforms'}`;
    const about = `Profile ${profile}, ${new Date().toUTCString()}`;
    writeReport(junit, junitXml(verdict, results.map(junitCase)));
    writeReport(html, htmlOf([verdict, about, countsOf(results)], results));
    for (const { id, status } of results)
      if (status === 'passed' && expectedFailures.has(id))
        output.remark(`${id} passed, although it is an expected failure. Remove it from the list.`);
    const failure = failed > 0 ? `${verdict}: ${counted(failed, 'case')} failed.` : undefined;
    const value = { base_url: url, profile, cases: results };
    printReport({ value, text: textOf(results), failure }, json, output);
  },
});

function baseUrl(text: string): string | Problem {
  const url = httpUrl(text);
  const isBase = url instanceof Problem || url.endsWith(basePath);
  return isBase ? url : new Problem(`must end in ${basePath}, such as https://network.example${basePath}.`);
}

function listedCases(path: string): ReadonlySet<string> | Problem {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    const ids = lines.map((line) => line.replace(/#.*/, '').trim()).filter((id) => id !== '');
    const unknown = ids.filter((id) => !allCases.some((each) => each.id === id)).slice(0, 5);
    return unknown.length === 0
      ? new Set(ids)
      : new Problem(`names unknown cases: ${echo(unknown.join(', '), 200)}.`);
  } catch (error) {
    return new Problem(`cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function whyUntested({ cause: answer }: Untestable, address: Address): string[] {
  const { url } = address;
  if (answer === undefined) return [`The tests ended early: ${url} is too slow, or sends too much.`];
  const { status, failure } = answer;
  if (failure !== undefined) return failure === 'TIMEOUT' ? tooLate(address) : whyNoAnswer(failure, address);
  if (status === 429 || status === 503)
    return [`${url} answered ${status} again and again. Run the command again later.`];
  if (status !== 401 && status !== 403) return foreignAnswer(`status ${status}`, address);
  const [code = ''] = /[A-Z]+(_[A-Z]+)+/.exec(answer.text.split('"code"')[1] ?? '') ?? [];
  const refused = `with status ${status}${code && ` and the code ${code}`}.`;
  if (answer.path === '/balances')
    return [
      `${url} refused the balances of PARTNER_NETWORK_CUSTOMER_ID ${refused}`,
      `Check that ${keyVariable} has the scope BALANCES_READ, and that this customer gave its partner the grant.`,
    ];
  const remedy = `Check that ${keyVariable} is complete, belongs to this deployment and has both scopes.`;
  return [`${url} refused the key ${refused}`, remedy];
}

function junitCase(result: CaseResult): JunitCase {
  const { id, section, title, status, variable } = result;
  const failure = status === 'failed' ? failureOf(result) : undefined;
  const skipped = status === 'expected' ? 'This failure is expected.' : variable && `Needs ${variable}`;
  return { group: section, name: `${id}: ${title}`, failure, skipped };
}

function countsOf(results: readonly CaseResult[]): string {
  const number = (wanted: CaseResult['status']) => results.filter(({ status }) => status === wanted).length;
  const others = `${number('failed')} failed, ${number('expected')} failed as expected`;
  const all = counted(results.length, 'case');
  return `${all}: ${number('passed')} passed, ${others}, ${number('skipped')} skipped.`;
}

/** A table, and then each failure in full. */
function textOf(results: readonly CaseResult[]): string {
  const shown = table(results, [
    ['CASE', ({ id }) => id, 'whole'],
    ['RESULT', ({ status }) => status, 'state'],
    ['PROMISE', ({ title, variable }) => (variable === undefined ? title : `${title} (needs ${variable})`)],
    ['SECTION', ({ section }) => section, 'whole'],
  ]);
  const failures = results
    .filter(({ expected }) => expected !== undefined)
    .map((result) => {
      const heading = `${result.status.toUpperCase()} ${result.id}: ${result.title}`;
      return `${heading}\n${failureOf(result).replace(/^(?=.)/gm, '    ')}\n`;
    });
  return [shown, '', ...failures, countsOf(results)].join('\n');
}
