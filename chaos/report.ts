/** What is printed when a run is over: each fault with what callers saw of it, and each promise. */

import type { Verdict } from './judge/verdict.ts';
import type { Answer } from './recorder.ts';
import type { Course } from './run.ts';
import type { Applied } from './stage/faults.ts';

const shownViolations = 5;

/** By what became of a request; shares of all that were on their way while a fault lasted. */
const outcomes: readonly [string, (status: number) => boolean][] = [
  ['200', (status) => status === 200],
  ['429', (status) => status === 429],
  ['401/403', (status) => status === 401 || status === 403],
  ['503', (status) => status === 503],
  ['502/504', (status) => status === 502 || status === 504],
  ['none', (status) => status === 0],
];

function sharesOf(answers: readonly Answer[]): string[] {
  return outcomes.map(([, isSo]) => {
    const share = answers.filter(({ status }) => isSo(status)).length / Math.max(1, answers.length);
    return share === 0 ? '-' : `${(share * 100).toFixed(1)} %`;
  });
}

export function faultsTable({ faults, recorder, startedMs, endedMs }: Course): string {
  const during = ({ beganMs, overMs }: Pick<Applied, 'beganMs' | 'overMs'>) =>
    recorder.answers.filter(({ sentMs, receivedMs }) => sentMs <= overMs && receivedMs >= beganMs);
  const row = (name: string, span: Pick<Applied, 'beganMs' | 'overMs'>) => {
    const answers = during(span);
    const seconds = ((span.overMs - span.beganMs) / 1_000).toFixed(1);
    const at = ((span.beganMs - startedMs) / 1_000).toFixed(1);
    return [name, at, seconds, String(answers.length), ...sharesOf(answers)];
  };
  return table([
    ['fault', 'at, s', 'for, s', 'answers', ...outcomes.map(([name]) => name)],
    ...faults.map((fault) => row(`${fault.harm} ${fault.part}`, fault)),
    row('the whole run', { beganMs: startedMs, overMs: endedMs }),
  ]);
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[column]!) : text.padStart(widths[column]!);
  return rows.map((row) => row.map(cell).join('  ').trimEnd()).join('\n');
}

/** So that nobody takes a run on a busy machine for more than it is. */
export function stallsText({ stalls }: Course): string {
  if (stalls.length === 0) return '';
  const longestMs = Math.max(...stalls.map(({ sentMs, receivedMs }) => receivedMs - sentMs));
  return (
    `The machine stood still ${stalls.length} times, for up to ${Math.round(longestMs)} ms: ` +
    'how fast answers were then, and whether there were any, is not judged.\n'
  );
}

export function verdictsText(verdicts: readonly Verdict[], startedMs: number): string {
  return verdicts.flatMap((verdict) => linesOf(verdict, startedMs)).join('\n');
}

function linesOf({ promise, judged, what, violations }: Verdict, startedMs: number): string[] {
  const outcome = violations.length === 0 ? 'kept  ' : 'BROKEN';
  const times = violations.length === 0 ? '' : `, ${violations.length} times`;
  const seconds = (atMs: number) => ((atMs - startedMs) / 1_000).toFixed(2);
  return [
    `${outcome} ${promise} (${judged.toLocaleString('en')} ${what})${times}`,
    ...violations
      .slice(0, shownViolations)
      .map(({ atMs, text }) => `         at ${seconds(atMs)} s: ${text}`),
  ];
}
