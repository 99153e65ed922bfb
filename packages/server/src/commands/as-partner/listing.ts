/** What a partner asks the service for, over HTTP and with a key: it needs no database here. */
import { type PageList, PartnerNetwork } from '@partner-network/client';
import { pageSize } from '@partner-network/contract/limits';
import { type Command, command } from '../../command-line/command.ts';
import { curlLine } from '../../command-line/curl.ts';
import type { Options, Values } from '../../command-line/options.ts';
import type { Output } from '../../command-line/output.ts';
import type { Column } from '../../command-line/table.ts';
import { keepYoungSpaceSmall } from '../../command-line/young-space.ts';
import { explained } from './errors.ts';
import { printerFor } from './output.ts';
import { callOptions, keyVariable } from './settings.ts';
import { createWaiting } from './waiting.ts';

type Parameters = Readonly<Record<string, string | number | undefined>>;

interface PageParameters {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
}

interface Page {
  readonly cursor?: string;
}

interface PartnerListing<O extends Options, Q extends Parameters, P, R> {
  /** The plural under which the records stand in the answer; also the path. */
  readonly name: 'brands' | 'balances';
  readonly options: O;
  /** By the wire's own names. */
  parameters(values: Values<O>): Q;
  list(network: PartnerNetwork, parameters: Q & PageParameters): PageList<P, R>;
  records(page: P): readonly R[];
  readonly columns: readonly Column<R>[];
  /** Flags that are not called as their parameters are. */
  readonly flags?: Readonly<Record<string, string>>;
}

type AnyListing = Pick<PartnerListing<Options, Parameters, Page, unknown>, 'options' | 'flags'>;

type CallValues = Values<typeof callOptions>;

export function partnerListing<O extends Options, Q extends Parameters, P extends Page, R>(
  listing: PartnerListing<O, Q, P, R>,
): Command {
  return command({
    options: { ...listing.options, ...callOptions },
    conflicts: ({ curl, json }) =>
      curl && json ? ['--curl prints a command and --json a document: leave one of them out.'] : [],
    run: async (values, _words, output) => {
      const call = values as CallValues;
      const { all, cursor, limit = all ? pageSize.max : undefined } = call;
      const parameters = { ...listing.parameters(values as Values<O>), cursor, limit };
      if (call.curl) printCurl(listing.name, parameters, call, output);
      else await printPages(listing, parameters, call, output);
    },
  });
}

function printCurl(path: string, parameters: Parameters, values: CallValues, output: Output): void {
  output.answer(curlLine(`${values['base-url'].url}/${path}`, parameters, keyVariable));
  if (values.all) {
    output.remark('That is one page. While an answer has a cursor, add &cursor= and it for the next one.');
  }
}

async function printPages<O extends Options, Q extends Parameters, P extends Page, R>(
  listing: PartnerListing<O, Q, P, R>,
  parameters: Q & PageParameters,
  { all, json, 'base-url': address, 'api-key': apiKey }: CallValues,
  output: Output,
): Promise<void> {
  const waiting = createWaiting(address.url, output);
  const network = new PartnerNetwork({ apiKey: apiKey!, baseUrl: address.url, onResponse: waiting.answered });
  keepYoungSpaceSmall();
  const list = listing.list(network, parameters);
  const printer = printerFor(listing, json, output);
  let last: P | undefined;
  try {
    for await (const page of waiting.watch(all ? list.pages() : firstOf(list))) {
      await printer.add(listing.records(page));
      last = page;
    }
  } catch (error) {
    await printer.cut();
    if (last !== undefined) output.remark('The output is incomplete, for not all pages came: list again.');
    throw explained(error, address, flagsOf(listing));
  }
  await printer.end(last?.cursor);
}

async function* firstOf<P>(list: PromiseLike<P>): AsyncGenerator<P> {
  yield await list;
}

/** The flag of a parameter, if it has one. */
function flagsOf({ options, flags }: AnyListing): (parameter: string) => string | undefined {
  return (parameter) => {
    const name = flags?.[parameter] ?? parameter.replaceAll('_', '-');
    return Object.hasOwn({ ...options, ...callOptions }, name) ? `--${name}` : undefined;
  };
}
