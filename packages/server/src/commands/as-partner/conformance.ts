import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { lengths } from '@partner-network/contract/limits';
import { basePath } from '@partner-network/contract/operations';
import { commandLineBounds } from '../../bounds/command-line.ts';
import { counted } from '../../command-line/amounts.ts';
import { command, exitUsage } from '../../command-line/command.ts';
import { jsonText } from '../../command-line/json.ts';
import { type JunitCase, junitXml } from '../../command-line/junit.ts';
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
} from '../../command-line/options.ts';
import type { Output } from '../../command-line/output.ts';
import { createProgress } from '../../command-line/progress.ts';
import { boundless, growingTable } from '../../command-line/table.ts';
import { type CaseResult, type Report, type Variable, variables } from '../../conformance/case.ts';
import { allCases } from '../../conformance/cases/index.ts';
import { htmlOf } from '../../conformance/html.ts';
import { casesOf, runCases } from '../../conformance/run.ts';
import { Untestable } from '../../conformance/send.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { foreignAnswer, tooLate, whyNoAnswer } from './errors.ts';
import { type Address, apiKey, keyVariable } from './settings.ts';

const exitUntestable = 3;
const file = plainText(commandLineBounds.pathCharacters);
const anyId = plainText(lengths.grantId);

/** Each variable as an option that has no flag. */
const fromVariables = Object.fromEntries(
  Object.entries(variables).map(([variable, help]) => [
    variable,
    variableOnly(
      variable,
      variable.endsWith('_KEY') ? apiKey : anyId,
      help,
      variable === keyVariable
        ? { missing: 'is not set. Set it to an API key with both scopes.' }
        : undefined,
    ),
  ]),
) as Record<Variable, Option<string | undefined>>;

export const conformance = command({
  arguments: [
    { name: 'BASE_URL', help: `the deployment's address, which ends in ${basePath}`, read: baseUrl },
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
      expectedFailures,
      'cases that may fail, one id a line; # begins a comment',
    ),
    ...fromVariables,
  }),
  run: async (values, [address = ''], output) => {
    const { profile, burst: isBurst, json, junit, html, 'expected-failures': expected = new Set() } = values;
    for (const path of [junit, html]) if (path !== undefined) write(path, appendFileSync, '');
    const url = baseUrl(address) as string;
    const given = Object.fromEntries(
      Object.keys(variables).flatMap((name) => {
        const value = values[name as Variable];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const cases = casesOf(allCases, profile);
    const progress = createProgress(process.stderr, 'checked', cases.length);
    const onProgress = (done: number) => {
      progress.bytes(1);
      progress.done(done);
    };
    const results = await runCases(cases, {
      baseUrl: url,
      given,
      isBurst,
      expectedFailures: expected,
      onProgress,
    })
      .catch((error) => {
        throw error instanceof Untestable ? untested(error, { url, setBy: 'BASE_URL' }) : error;
      })
      .finally(progress.clear);
    const report: Report = { base_url: url, profile, cases: results };
    if (junit !== undefined)
      write(junit, writeFileSync, junitXml(`conformance of ${url}`, results.map(junitCase)));
    if (html !== undefined) write(html, writeFileSync, htmlOf(report, new Date()));
    if (json) output.answer(jsonText(report, 2));
    else print(results, output);
    for (const { id, status } of results)
      if (status === 'passed' && expected.has(id))
        output.remark(`${id} passed, although it is an expected failure. Remove it from the list.`);
    const failed = results.filter(({ status }) => status === 'failed').length;
    if (failed > 0) throw new OperatorError(`${url} does not conform: ${counted(failed, 'case')} failed.`);
  },
});

function baseUrl(text: string): string | Problem {
  const url = httpUrl(text);
  const isBase = url instanceof Problem || url.endsWith(basePath);
  return isBase ? url : new Problem(`must end in ${basePath}, such as https://network.example${basePath}.`);
}

function expectedFailures(path: string): ReadonlySet<string> | Problem {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    const ids = lines.map((line) => line.replace(/#.*/, '').trim()).filter((id) => id !== '');
    const unknown = ids.filter((id) => !allCases.some((each) => each.id === id));
    return unknown.length === 0
      ? new Set(ids)
      : new Problem(`names cases that do not exist: ${unknown.slice(0, 5).join(', ')}.`);
  } catch (error) {
    return new Problem(`cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** Before the run, an empty text is appended: a run that cannot be reported is not worth its time. */
function write(path: string, how: (path: string, text: string) => void, text: string): void {
  try {
    how(path, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(`Cannot write the file ${path} (${code}).`, { exitStatus: exitUsage });
  }
}

function untested(error: Untestable, address: Address): OperatorError {
  return new OperatorError(sentencesOf(error, address).join('\n'), {
    cause: error,
    exitStatus: exitUntestable,
  });
}

function sentencesOf({ reason, answer }: Untestable, address: Address): string[] {
  const { status = 0, fault } = answer ?? {};
  const { url } = address;
  if (reason === 'exhausted')
    return [`The tests ended early: ${url} needed too many requests, or sent too much data.`];
  if (fault === 'TIMEOUT') return tooLate(address);
  if (reason === 'unreachable') return whyNoAnswer(fault ?? '', address);
  if (reason === 'foreign') return foreignAnswer(`status ${status}`, address);
  if (status === 429 || status === 503)
    return [`${url} answered ${status} again and again. Run the command later.`];
  return [
    `${url} refused the key with status ${status}.`,
    `Check that ${keyVariable} is complete, belongs to this deployment and has both scopes.`,
  ];
}

function junitCase({ id, section, title, status, variable, ...seen }: CaseResult): JunitCase {
  const failure =
    status === 'failed' ? `Expected ${seen.expected}\n\n${seen.request}\n\n${seen.answer}` : undefined;
  const skipped = status === 'expected' ? 'This failure is expected.' : variable && `Needs ${variable}`;
  return { group: `${section}`, name: `${id}: ${title}`, failure, skipped };
}

/** A table by section, then each failure in full, and what skipped cases need. */
function print(results: readonly CaseResult[], output: Output): void {
  const bySection = Map.groupBy(results, ({ section }) => section);
  const rows = [...bySection.values()].flatMap((group) =>
    group.map((result, index) => ({ ...result, section: index === 0 ? result.section : '' })),
  );
  const columns = [
    { heading: 'SECTION', cell: (row: CaseResult) => row.section },
    { heading: 'RESULT', cell: (row: CaseResult) => row.status },
    { heading: 'CASE', cell: (row: CaseResult) => row.id },
    { heading: 'PROMISE', cell: (row: CaseResult) => row.title },
  ];
  output.answer(growingTable(columns, process.stdout.isTTY ? process.stdout : boundless)(rows));
  for (const { id, section, title, status, ...seen } of results) {
    if (status !== 'failed' && status !== 'expected') continue;
    const indented = (text = '') => text.replace(/^(?=.)/gm, '    ');
    output.answer(`${status.toUpperCase()} ${id} (${section}): ${title}`);
    output.answer(`  Request:\n${indented(seen.request)}\n  Answer:\n${indented(seen.answer)}`);
    output.answer(`  Expected ${seen.expected}\n`);
  }
  const skipped = Map.groupBy(results, ({ variable }) => variable);
  for (const [variable, group] of skipped) {
    const ids = group.map(({ id }) => id).join(', ');
    if (variable !== undefined) output.answer(`Skipped without ${variable}: ${ids}\n`);
  }
  const number = (wanted: CaseResult['status']) => results.filter(({ status }) => status === wanted).length;
  const counts = `${number('passed')} passed, ${number('failed')} failed`;
  output.answer(
    `${counted(results.length, 'case')}: ${counts}, ${number('expected')} failed as expected, ${number('skipped')} skipped.`,
  );
}
