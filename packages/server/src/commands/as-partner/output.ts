/** How records of a listing are printed, page by page: a hundred thousand need no more memory than a page. */

import { growingJson, jsonText } from '../../command-line/json.ts';
import type { Output } from '../../command-line/output.ts';
import { type Column, growingTable } from '../../command-line/table.ts';

interface Printed<R> {
  readonly name: 'brands' | 'balances';
  readonly columns: readonly Column<R>[];
}

interface Printer<R> {
  add(records: readonly R[]): Promise<void>;
  /** Where the next page did not come. */
  cut(): Promise<void>;
  /** After the last page that was wanted; with its cursor there are more. */
  end(cursor: string | undefined): Promise<void>;
}

/** A person gets a table, a program JSON. */
export function printerFor<R>(printed: Printed<R>, isJson: boolean, output: Output): Printer<R> {
  if (isJson) return asDocument(printed, output);
  return process.stdout.isTTY ? asTable(printed, output) : asLines(printed, output);
}

/** The shape of the service's own answer, with the records of all the pages. */
function asDocument<R>({ name }: Printed<R>, output: Output): Printer<R> {
  const { add, cut, end } = growingJson(output.write, `{"${name}":[`);
  return {
    add,
    cut,
    end: (cursor) => end(cursor === undefined ? ']}' : `],"cursor":${jsonText(cursor)}}`),
  };
}

function asLines<R>({ name }: Printed<R>, output: Output): Printer<R> {
  return {
    add: (records) => output.write(records.map((record) => `${jsonText(record)}\n`).join('')),
    cut: async () => {},
    end: async (cursor) => remarkMore(name, cursor, output),
  };
}

function asTable<R>({ name, columns }: Printed<R>, output: Output): Printer<R> {
  const table = growingTable(columns, process.stdout);
  let count = 0;
  return {
    add: async (records) => {
      count += records.length;
      if (records.length > 0) await output.write(table(records));
    },
    cut: async () => {},
    end: async (cursor) => {
      const one = name.slice(0, -1);
      await output.write(
        count === 0 ? `No ${name}.\n` : `\n${grouped(count)} ${count === 1 ? one : name}.\n`,
      );
      remarkMore(name, cursor, output);
    },
  };
}

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** Also beside a pipe, whose reader may take one page for all there is. */
function remarkMore(name: string, cursor: string | undefined, output: Output): void {
  if (cursor === undefined) return;
  output.remark(`There are more ${name}: --all lists every page, and --json shows the cursor of the next.`);
}
