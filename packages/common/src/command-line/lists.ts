/** Long lists, newest first: the options and the output that they share. */
import { commandLineBounds } from '../bounds/common.ts';
import { toTime } from '../times.ts';
import { jsonText, type Output } from './command.ts';
import { defaulted, optional, timeOrAge, wholeNumber } from './options.ts';
import { boundless, type Column, growingTable } from './table.ts';

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

export function limitFlag(what: string) {
  const { listShown, listShownAtMost } = commandLineBounds;
  const help = `highest number of ${what} to show, the newest first`;
  return defaulted('N', wholeNumber(1, listShownAtMost), listShown, help);
}

/** Prints the newest records page by page, so that only one page is in memory. `recordOf` is for --json. */
export async function printNewest<R>(
  what: string,
  list: (after: R | undefined, limit: number) => Promise<readonly R[]>,
  { limit, json: isJson, since = '' }: { limit: number; json: boolean; since?: string | undefined },
  columns: readonly Column<R>[],
  output: Output,
  recordOf: (record: R) => unknown = (record) => record,
): Promise<void> {
  const document = growingJson(output.write, '[');
  const rows = growingTable(columns, process.stdout.isTTY ? process.stdout : boundless);
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
  else if (shown === 0) output.answer(`No ${what} found.`);
  if (since > toTime(Date.now())) output.remark('--since is in the future: choose an earlier time.');
  if (shown === limit && (await list(last, 1)).length > 0)
    output.remark(`There are more ${what}: raise --limit (now ${limit}) to see older ones.`);
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
