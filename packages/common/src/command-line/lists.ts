/** Long lists, newest first: the options and the output that they share. */
import { commandLineBounds } from '../bounds/common.ts';
import { toTime } from '../times.ts';
import { jsonText, type Output, printReport } from './command.ts';
import { addedIn, flag, type Option, optional, Problem, timeOrAge, wholeNumber } from './options.ts';
import { type Columns, growingTable, table } from './table.ts';

export function timeSpan(what: string, from = 'since', to = 'before') {
  const since = `only ${what} ${from} this time, such as 2027-01-31T00:00:00Z, or 24h for the last day`;
  return {
    since: optional('TIME', timeOrAge, since),
    until: optional('TIME', timeOrAge, `only ${what} ${to} this time, in the same forms`),
  };
}

/** An age is counted back from now, so that `--since 1h --until 2h` is in the wrong order. */
export function spanConflicts({ since = '', until }: { since?: string; until?: string }): string[] {
  const isOrdered = until === undefined || since < until;
  return isOrdered ? [] : ['--since must be before --until: exchange them.'];
}

/** How much of a list is shown. A list that had --limit before 0.3.0 keeps its default for --json. */
export function shownFlags(what: string, limitSince = '0.3.0') {
  const { listShown, listShownInJson, listShownAtMost } = commandLineBounds;
  const inJson = limitSince === '0.3.0' ? listShownAtMost : listShownInJson;
  const given = optional('N', wholeNumber(1, listShownAtMost), `show only the newest N ${what}`);
  const limit: Option<number> = {
    ...given,
    default: `${listShown}, or ${inJson === listShownAtMost ? 'all' : inJson} with --json`,
    resolve: (texts, flags) => {
      if (!flags.has('all')) return given.resolve(texts, flags) ?? (flags.has('json') ? inJson : listShown);
      return texts.length === 0 ? listShownAtMost : new Problem('and --all exclude each other.');
    },
  };
  const all = flag('show all records, not only the newest');
  return { ...addedIn(limitSince, { limit }), ...addedIn('0.3.0', { all }) };
}

/** Every record of a list of one partner has the same one, so a column would say nothing. */
const columnsFor = <R>(columns: Columns<R>, partner: string | undefined) =>
  columns.filter(([heading]) => heading !== 'PARTNER' || partner === undefined);

const moreOf = (what: string) => `There are more ${what}. --all shows all of them, --limit N the newest N.`;

interface Shown {
  readonly limit: number;
  readonly json: boolean;
  readonly partner?: string | undefined;
}

/** Prints the newest of these records; `none` is said of an empty list. */
export function printList<R extends { readonly created_at: string }>(
  records: readonly R[],
  what: string,
  columns: Columns<R>,
  { limit, json: isJson, partner }: Shown,
  output: Output,
  none = `No ${what} found.`,
): void {
  const isCut = records.length > limit;
  const newest = records.toSorted((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at));
  const shown = isJson && !isCut ? records : newest.slice(0, limit);
  const text = isJson || shown.length === 0 ? none : table(shown, columnsFor(columns, partner));
  printReport({ value: shown, text }, isJson, output);
  if (isCut) output.remark(moreOf(what));
}

/** Prints the newest records page by page, so that only one page is in memory. `recordOf` is for --json. */
export async function printNewest<R>(
  what: string,
  list: (after: R | undefined, limit: number) => Promise<readonly R[]>,
  { limit, json: isJson, since = '', partner }: Shown & { since?: string | undefined },
  columns: Columns<R>,
  output: Output,
  recordOf: (record: R) => unknown = (record) => record,
): Promise<void> {
  const document = growingJson(output.write, '[');
  const { rows, note } = growingTable(columnsFor(columns, partner));
  let shown = 0;
  let last: R | undefined;
  for (let isFull = true; isFull && shown < limit; ) {
    const wanted = Math.min(limit - shown, commandLineBounds.listPage);
    const page = await list(last, wanted);
    if (page.length > 0) await (isJson ? document.add(page.map(recordOf)) : output.write(rows(page)));
    shown += page.length;
    last = page.at(-1);
    isFull = page.length === wanted;
  }
  if (isJson) await document.end(']');
  else await output.write(shown === 0 ? `No ${what} found.\n` : note('\n'));
  if (since > toTime(Date.now()))
    output.remark('--since is in the future: choose an earlier time.', 'warning');
  if (shown === limit && (await list(last, 1)).length > 0) output.remark(moreOf(what));
}

/**
 * A JSON document around one long list, written page by page: 100,000 records need only the memory of a page.
 * `opening` is written with the first record, so that a command that fails before it prints nothing.
 */
export function growingJson(write: Output['write'], opening: string) {
  let isStarted = false;
  return {
    add: async (records: readonly unknown[]) => {
      if (records.length === 0) return;
      const lines = records.map((record) => jsonText(record)).join(',\n');
      await write(`${isStarted ? ',' : opening}\n${lines}`);
      isStarted = true;
    },
    /** Ends the line of a list that stays incomplete, so that the error message gets its own line. */
    cut: async () => {
      if (isStarted) await write('\n');
    },
    end: (closing: string) => write(`${isStarted ? '\n' : opening}${closing}\n`),
  };
}
