import { readFileSync } from 'node:fs';
import { lengths } from '@partner-network/contract/limits';
import { basePath } from '@partner-network/contract/operations';
import { commandLineBounds } from '../../bounds/command-line.ts';
import { counted } from '../../command-line/amounts.ts';
import { command } from '../../command-line/command.ts';
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
import { createProgress } from '../../command-line/progress.ts';
import { writeReport } from '../../command-line/report-file.ts';
import { boundless, growingTable, neverShortened } from '../../command-line/table.ts';
import {
  type CaseResult,
  type Given,
  type Report,
  type Variable,
  variables,
} from '../../conformance/case.ts';
import { allCases } from '../../conformance/cases/index.ts';
import { htmlOf } from '../../conformance/html.ts';
import { casesOf, runCases } from '../../conformance/run.ts';
import { Untestable } from '../../conformance/send.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { echo } from '../../lib/text.ts';
import { foreignAnswer, tooLate, whyNoAnswer } from './errors.ts';
import { type Address, apiKey, keyVariable } from './settings.ts';

const exitUntestable = 3;
const file = plainText(commandLineBounds.pathCharacters);

/** Each variable as an option that has no flag. */
const fromVariables = Object.fromEntries(
  Object.entries(variables).map(([variable, help]) => {
    const read = variable.endsWith('_KEY') ? apiKey : plainText(lengths.grantId);
    const missing = 'is not set. Set it to an API key with both scopes.';
    return [variable, variableOnly(variable, read, help, variable === keyVariable ? { missing } : undefined)];
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
    const { profile, burst: isBurst, json, junit, html, 'expected-failures': listed, ...rest } = values;
    const expectedFailures = listed ?? new Set<string>();
    const given: Given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    // Before the run. It also removes old reports.
    for (const path of [junit, html]) writeReport(path, '');
    const url = baseUrl(text) as string;
    const cases = casesOf(allCases, profile);
    const progress = createProgress(process.stderr, 'checked', cases.length);
    const onProgress = (done: number) => {
      progress.bytes(1);
      progress.done(done);
    };
    const running = runCases(cases, { baseUrl: url, given, isBurst, expectedFailures, onProgress });
    const results = await running.finally(progress.clear).catch((error) => {
      if (!(error instanceof Untestable)) throw error;
      const sentences = whyUntested(error, { url, setBy: 'BASE_URL' }).join('\n');
      throw new OperatorError(sentences, { cause: error, exitStatus: exitUntestable });
    });
    const report: Report = { base_url: url, profile, cases: results };
    writeReport(junit, junitXml(`conformance of ${url}`, results.map(junitCase)));
    writeReport(html, htmlOf(report, new Date()));
    output.answer(json ? jsonText(report, 2) : textOf(results));
    for (const { id } of results.filter(({ id, status }) => status === 'passed' && expectedFailures.has(id)))
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

function whyUntested({ reason, answer }: Untestable, address: Address): string[] {
  const { url } = address;
  const { status = 0, fault = '' } = answer ?? {};
  if (reason === 'exhausted') return [`The tests ended early: ${url} is too slow, or sends too much.`];
  if (reason === 'foreign') return foreignAnswer(`status ${status}`, address);
  if (reason === 'unreachable') return fault === 'TIMEOUT' ? tooLate(address) : whyNoAnswer(fault, address);
  const isBusy = status === 429 || status === 503;
  if (isBusy) return [`${url} answered ${status} again and again. Run the command again later.`];
  const remedy = `Check that ${keyVariable} is complete, belongs to this deployment and has both scopes.`;
  return [`${url} refused the key with status ${status}.`, remedy];
}

function junitCase({ id, section, title, status, variable, ...seen }: CaseResult): JunitCase {
  const failure =
    status === 'failed' ? `Expected ${seen.expected}\n\n${seen.request}\n\n${seen.answer}` : undefined;
  const skipped = status === 'expected' ? 'This failure is expected.' : variable && `Needs ${variable}`;
  return { group: section, name: `${id}: ${title}`, failure, skipped };
}

/** A table by section, then each failure in full, and what skipped cases need. */
function textOf(results: readonly CaseResult[]): string {
  const columns = [
    { heading: 'SECTION', cell: ({ section }: CaseResult) => section },
    { heading: 'RESULT', cell: ({ status }: CaseResult) => status },
    { heading: 'CASE', cell: ({ id }: CaseResult) => id, minCells: neverShortened },
    { heading: 'PROMISE', cell: ({ title }: CaseResult) => title },
  ];
  const rows = results.map((result, index) =>
    result.section === results[index - 1]?.section ? { ...result, section: '' } : result,
  );
  const shown = growingTable(columns, process.stdout.isTTY ? process.stdout : boundless)(rows);
  const indented = (text = '') => text.replace(/^(?=.)/gm, '    ');
  const failures = results
    .filter(({ expected }) => expected !== undefined)
    .map(({ id, section, title, status, expected, request, answer }) => {
      const heading = `${status.toUpperCase()} ${id} (${section}): ${title}\n  Expected ${expected}`;
      return `${heading}\n  Request:\n${indented(request)}\n  Answer:\n${indented(answer)}\n`;
    });
  const skipped = Map.groupBy(results, ({ variable }) => variable);
  skipped.delete(undefined);
  const idsOf = (group: readonly CaseResult[]) => group.map(({ id }) => id).join(', ');
  const needs = [...skipped].map(([needed, group]) => `Skipped without ${needed}: ${idsOf(group)}`);
  const number = (wanted: CaseResult['status']) => results.filter(({ status }) => status === wanted).length;
  const others = `${number('expected')} failed as expected, ${number('skipped')} skipped`;
  const counts = `${number('passed')} passed, ${number('failed')} failed, ${others}`;
  return [shown, ...failures, ...needs, `${counted(results.length, 'case')}: ${counts}.`].join('\n');
}
