/** The report of a run: each fault with the answers during it, and each promise. */
import { markdown } from '../bench/lib/report.ts';
import type { Answer, Run, Verdict } from './record.ts';

const shownViolations = 5;

/** Columns of the table: shares of all requests under way during a fault. */
const outcomes: readonly [heading: string, statuses: readonly number[]][] = [
  ['200', [200]],
  ['429', [429]],
  ['401/403', [401, 403]],
  ['503', [503]],
  ['502/504', [502, 504]],
  ['none', [0]],
];

export function reportOf(run: Run, verdicts: readonly Verdict[]): string {
  const judged = verdicts.flatMap((verdict) => linesOf(verdict, run.startedMs)).join('\n');
  return `${faultsTable(run)}\n\n${stallsText(run)}${judged}\n`;
}

function sharesOf(answers: readonly Answer[]): string[] {
  return outcomes.map(([, statuses]) => {
    const count = answers.filter(({ status }) => statuses.includes(status)).length;
    return count === 0 ? '-' : `${((count / answers.length) * 100).toFixed(1)} %`;
  });
}

function faultsTable({ faults, recorder, startedMs, endedMs }: Run): string {
  const row = (name: string, beganMs: number, overMs: number) => {
    const answers = recorder.answers.filter(
      ({ sentMs, receivedMs }) => sentMs <= overMs && receivedMs >= beganMs,
    );
    const [at, seconds] = [beganMs - startedMs, overMs - beganMs].map((ms) => (ms / 1_000).toFixed(1));
    return [name, at!, seconds!, String(answers.length), ...sharesOf(answers)];
  };
  return markdown([
    ['fault', 'at, s', 'for, s', 'answers', ...outcomes.map(([heading]) => heading)],
    ...faults.map(({ harm, part, beganMs, overMs }) => row(`${harm} ${part}`, beganMs, overMs)),
    row('the whole run', startedMs, endedMs),
  ]);
}

/** Says how much of a run on a busy machine is not judged. */
function stallsText({ stalls }: Run): string {
  if (stalls.length === 0) return '';
  const longestMs = Math.max(...stalls.map(({ sentMs, receivedMs }) => receivedMs - sentMs));
  return (
    `The machine stalled ${stalls.length} times, for up to ${Math.round(longestMs)} ms: ` +
    'times and refusals of answers during a stall are not judged.\n'
  );
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
