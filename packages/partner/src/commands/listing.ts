/** The commands that a partner runs: they list records over HTTP with an API key, without a database. */

import { type ListBrandsParams, type PageList, PartnerNetwork } from '@partner-network/client';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import type { Output } from '@partner-network/common/command-line/command';
import { type Command, command, jsonText } from '@partner-network/common/command-line/command';
import { growingJson } from '@partner-network/common/command-line/lists';
import type { Options, Values } from '@partner-network/common/command-line/options';
import { type Column, growingTable } from '@partner-network/common/command-line/table';
import { pageSize } from '@partner-network/contract/limits';
import type { ListingName } from '@partner-network/contract/operations';
import { explained } from './errors.ts';
import { callOptions, keyVariable } from './settings.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

type PageParameters = Pick<ListBrandsParams, 'cursor' | 'limit'>;

interface PartnerListing<O extends Options, Q extends Query, P, R> {
  /** The path, and the field that holds the records in the answer. */
  readonly name: ListingName;
  readonly options: O;
  parameters(values: Values<O>): Q;
  list(network: PartnerNetwork, parameters: Q & PageParameters): PageList<P, R>;
  records(page: P): readonly R[];
  readonly columns: readonly Column<NoInfer<R>>[];
  /** Flags whose names differ from those of their parameters. */
  readonly flags?: Readonly<Record<string, string>>;
}

type CallValues = Values<typeof callOptions>;

export function partnerListing<O extends Options, Q extends Query, P extends { cursor?: string }, R>(
  listing: PartnerListing<O, Q, P, R>,
): Command {
  const options = { ...listing.options, ...callOptions };

  function flagOf(parameter: string): string | undefined {
    const name = listing.flags?.[parameter] ?? parameter.replaceAll('_', '-');
    return Object.hasOwn(options, name) ? `--${name}` : undefined;
  }

  async function printPages(parameters: Q & PageParameters, values: CallValues, output: Output) {
    const { all, json, 'base-url': address, 'api-key': apiKey } = values;
    const waiting = createWaitingRemark(address.url, output);
    const { onRequest, onResponse } = waiting;
    const network = new PartnerNetwork({ apiKey: apiKey!, baseUrl: address.url, onRequest, onResponse });
    const list = listing.list(network, parameters);
    const printer = json
      ? createJsonPrinter(listing.name, output)
      : createLinePrinter(listing.name, listing.columns, output);
    let last: P | undefined;
    try {
      for await (const page of all ? list.pages() : [list]) {
        waiting.stop();
        await printer.add(listing.records(page));
        last = page;
      }
    } catch (error) {
      waiting.stop();
      await printer.cut();
      if (last !== undefined)
        output.remark('The output is incomplete: not all pages arrived. Run the command again.');
      throw explained(error, address, flagOf);
    }
    await printer.end(last?.cursor);
  }

  return command({
    options,
    conflicts: ({ curl, json }) =>
      curl && json ? ['--curl and --json exclude each other: use one of them.'] : [],
    run: async (values, _words, output) => {
      const call = values as CallValues;
      const { all, cursor, limit = all ? pageSize.max : undefined } = call;
      const parameters = { ...listing.parameters(values as Values<O>), cursor, limit };
      if (!call.curl) return printPages(parameters, call, output);
      output.answer(curlLine(`${call['base-url'].url}/${listing.name}`, parameters));
      const next = 'If the answer has a cursor, add &cursor=CURSOR to the URL for the next page.';
      if (all) output.remark(`This line gets one page. ${next}`);
    },
  });
}

/** Prints one document of the same shape as the service's answer, page by page. */
function createJsonPrinter(name: string, output: Output) {
  const { add, cut, end } = growingJson(output.write, `{"${name}":[`);
  const last = (cursor?: string) => (cursor === undefined ? ']}' : `],"cursor":${jsonText(cursor)}}`);
  return { add, cut, end: (cursor?: string) => end(last(cursor)) };
}

/** Prints a table on a terminal, otherwise JSON Lines, page by page. */
function createLinePrinter<R>(name: string, columns: readonly Column<R>[], output: Output) {
  const { isTTY } = process.stdout;
  const rows = growingTable(columns, process.stdout);
  const lines = (records: readonly R[]) => records.map((record) => `${jsonText(record)}\n`).join('');
  let count = 0;
  return {
    add: async (records: readonly R[]) => {
      count += records.length;
      if (records.length > 0) await output.write(isTTY ? rows(records) : lines(records));
    },
    cut: async () => {},
    end: async (cursor?: string) => {
      const total = `${count.toLocaleString('en-US')} ${count === 1 ? name.slice(0, -1) : name}`;
      if (isTTY) await output.write(count === 0 ? `No ${name}.\n` : `\n${total}.\n`);
      // On standard error, so that the reader of a pipe does not take one page for all records.
      const more = `There are more ${name}. --all lists every page, and --json prints the next cursor.`;
      if (cursor !== undefined) output.remark(more);
    },
  };
}

/** The call as a curl command for a POSIX shell. The key stays in its variable, so it is not shown. */
function curlLine(address: string, parameters: Query): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  const url = query.size === 0 ? address : `${address}?${query}`;
  return `curl -H "Authorization: Bearer $${keyVariable}" '${url.replaceAll("'", "'\\''")}'`;
}

/** Prints once, on a terminal, what the command waits for: the client retries silently. */
export function createWaitingRemark(address: string, output: Output, isTerminal = process.stderr.isTTY) {
  let status = 0;
  let isRemarked = !isTerminal;
  let timer: NodeJS.Timeout | undefined;

  function remark(): void {
    isRemarked = true;
    const answer = status >= 400 ? `, which answered ${status}` : '';
    output.remark(`Waiting for ${address}${answer}. Press Ctrl-C to stop.`);
  }

  return {
    onRequest: () => {
      if (!isRemarked) timer ??= setTimeout(remark, commandLineBounds.silentWaitMs);
    },
    onResponse: (response: { readonly status: number }) => {
      status = response.status;
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
