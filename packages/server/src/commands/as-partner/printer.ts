import { growingJson, jsonText } from '../../command-line/json.ts';
import type { Output } from '../../command-line/output.ts';
import { type Column, growingTable } from '../../command-line/table.ts';

interface Printer<R> {
  add(records: readonly R[]): Promise<void>;
  /** Ends the output after an error. */
  cut(): Promise<void>;
  /** Ends the output; with a cursor there are more records than those printed. */
  end(cursor: string | undefined): Promise<void>;
}

/**
 * Prints a listing page by page, so that only one page is in memory. With --json it prints one document of
 * the same shape as the service's answer, on a terminal a table, otherwise JSON Lines.
 */
export function createPrinter<R>(
  name: 'brands' | 'balances',
  columns: readonly Column<R>[],
  isJson: boolean,
  output: Output,
): Printer<R> {
  if (isJson) {
    const { add, cut, end } = growingJson(output.write, `{"${name}":[`);
    return {
      add,
      cut,
      end: (cursor) => end(cursor === undefined ? ']}' : `],"cursor":${jsonText(cursor)}}`),
    };
  }
  const rows = growingTable(columns, process.stdout);
  const lines = (records: readonly R[]) => records.map((record) => `${jsonText(record)}\n`).join('');
  let count = 0;
  return {
    add: async (records) => {
      count += records.length;
      if (records.length > 0) await output.write(process.stdout.isTTY ? rows(records) : lines(records));
    },
    cut: async () => {},
    end: async (cursor) => {
      const total = `${count.toLocaleString('en-US')} ${count === 1 ? name.slice(0, -1) : name}`;
      if (process.stdout.isTTY) await output.write(count === 0 ? `No ${name}.\n` : `\n${total}.\n`);
      // On standard error, so that the reader of a pipe does not take one page for all records.
      if (cursor !== undefined)
        output.remark(
          `There are more ${name}: --all lists every page, and --json shows the cursor of the next.`,
        );
    },
  };
}
