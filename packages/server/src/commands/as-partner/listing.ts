/** The commands that a partner runs: they list records over HTTP with an API key, without a database. */
import { type PageList, PartnerNetwork } from '@partner-network/client';
import { pageSize } from '@partner-network/contract/limits';
import { commandLineBounds } from '../../bounds/command-line.ts';
import { type Command, command } from '../../command-line/command.ts';
import { curlLine } from '../../command-line/curl.ts';
import type { Options, Values } from '../../command-line/options.ts';
import type { Output } from '../../command-line/output.ts';
import type { Column } from '../../command-line/table.ts';
import { explained } from './errors.ts';
import { createPrinter } from './printer.ts';
import { callOptions, keyVariable } from './settings.ts';

type Parameters = Readonly<Record<string, string | number | undefined>>;

interface PageParameters {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
}

interface PartnerListing<O extends Options, Q extends Parameters, P, R> {
  /** The path, and the field that holds the records in the answer. */
  readonly name: 'brands' | 'balances';
  readonly options: O;
  /** The query parameters. */
  parameters(values: Values<O>): Q;
  list(network: PartnerNetwork, parameters: Q & PageParameters): PageList<P, R>;
  records(page: P): readonly R[];
  readonly columns: readonly Column<R>[];
  /** Flags whose names differ from those of their parameters. */
  readonly flags?: Readonly<Record<string, string>>;
}

type CallValues = Values<typeof callOptions>;

export function partnerListing<O extends Options, Q extends Parameters, P extends { cursor?: string }, R>(
  listing: PartnerListing<O, Q, P, R>,
): Command {
  const options = { ...listing.options, ...callOptions };

  /** The flag that sets a parameter. */
  function flagOf(parameter: string): string | undefined {
    const name = listing.flags?.[parameter] ?? parameter.replaceAll('_', '-');
    return Object.hasOwn(options, name) ? `--${name}` : undefined;
  }

  async function printPages(parameters: Q & PageParameters, values: CallValues, output: Output) {
    const { all, json, 'base-url': address, 'api-key': apiKey } = values;
    const waiting = createWaitingRemark(address.url, output);
    const { onResponse } = waiting;
    const list = listing.list(
      new PartnerNetwork({ apiKey: apiKey!, baseUrl: address.url, onResponse }),
      parameters,
    );
    const printer = createPrinter(listing.name, listing.columns, json, output);
    let last: P | undefined;
    try {
      for await (const page of waiting.watch(all ? list.pages() : firstOf(list))) {
        await printer.add(listing.records(page));
        last = page;
      }
    } catch (error) {
      await printer.cut();
      if (last !== undefined) output.remark('The output is incomplete, for not all pages came: list again.');
      throw explained(error, address, flagOf);
    }
    await printer.end(last?.cursor);
  }

  return command({
    options,
    conflicts: ({ curl, json }) =>
      curl && json ? ['--curl prints a command and --json a document: leave one of them out.'] : [],
    run: async (values, _words, output) => {
      const call = values as CallValues;
      const { all, cursor, limit = all ? pageSize.max : undefined } = call;
      const parameters = { ...listing.parameters(values as Values<O>), cursor, limit };
      if (!call.curl) return printPages(parameters, call, output);
      output.answer(curlLine(`${call['base-url'].url}/${listing.name}`, parameters, keyVariable));
      const next = 'While an answer has a cursor, add &cursor= and it for the next one.';
      if (all) output.remark(`That is one page. ${next}`);
    },
  });
}

async function* firstOf<P>(list: PromiseLike<P>): AsyncGenerator<P> {
  yield await list;
}

/**
 * Tells a person at a terminal, once, what a command waits for: the client retries silently. Time that is
 * spent printing a page does not count.
 */
export function createWaitingRemark(address: string, output: Output, isTerminal = process.stderr.isTTY) {
  let status = 0;
  let isRemarked = !isTerminal;

  function remark(): void {
    if (isRemarked) return;
    isRemarked = true;
    const answer = status >= 400 ? `, which answered ${status}` : '';
    output.remark(`Waiting for ${address}${answer}; Ctrl-C ends it.`);
  }

  return {
    onResponse: (response: { readonly status: number }) => {
      status = response.status;
    },
    watch: async function* <P>(pages: AsyncIterable<P>): AsyncGenerator<P> {
      let timer = setTimeout(remark, commandLineBounds.silentWaitMs);
      try {
        for await (const page of pages) {
          clearTimeout(timer);
          yield page;
          timer = setTimeout(remark, commandLineBounds.silentWaitMs);
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
