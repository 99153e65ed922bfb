/** The commands that a partner runs: they list records over HTTP with an API key, without a database. */
import { type ListBrandsParams, type PageList, PartnerNetwork } from '@partner-network/client';
import { type Command, command, jsonText, type Output } from '@partner-network/common/command-line/command';
import { growingJson } from '@partner-network/common/command-line/lists';
import {
  defaulted,
  type Options,
  oneOf,
  optional,
  plainText,
  required,
  type Values,
} from '@partner-network/common/command-line/options';
import {
  type Column,
  growingTable,
  issuedIdCells,
  money,
  neverShortened,
  shortTime,
} from '@partner-network/common/command-line/table';
import { lengths, pageSize } from '@partner-network/contract/limits';
import type { ListingName } from '@partner-network/contract/operations';
import { balanceSchema } from '@partner-network/contract/records';
import { createWaitingRemark, explained } from './messages.ts';
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

function partnerListing<O extends Options, Q extends Query, P extends { cursor?: string }, R>(
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

const updated = {
  heading: 'UPDATED (UTC)',
  minCells: neverShortened,
  cell: ({ updated_at }: { readonly updated_at?: string }) => shortTime(updated_at),
};

export const listBrands = partnerListing({
  name: 'brands',
  options: {
    'reference-id': optional('ID', plainText(lengths.referenceId), 'only brands with this reference_id'),
  },
  parameters: (values) => ({ reference_id: values['reference-id'] }),
  list: (network, parameters) => network.brands.list(parameters),
  records: ({ brands }) => brands,
  columns: [
    { heading: 'NAME', cell: ({ name }) => name },
    { heading: 'REFERENCE', cell: ({ reference_id }) => reference_id },
    { heading: 'COLOR', minCells: neverShortened, cell: ({ color = '' }) => color },
    { heading: 'ID', minCells: issuedIdCells, cell: ({ id }) => id },
    updated,
  ],
});

const types = balanceSchema.properties.type.enum;
const anyGrant = 'grant to use; without it, any active grant';

export const listBalances = partnerListing({
  name: 'balances',
  options: {
    customer: required('ID', plainText(lengths.customerId), 'customer whose balances to list'),
    type: defaulted(types.join('|'), oneOf(types), types[0], 'type of the balances'),
    'grant-id': optional('ID', plainText(lengths.grantId), anyGrant),
  },
  flags: { customer_id: 'customer' },
  parameters: (values) => ({
    customer_id: values.customer,
    type: values.type,
    grant_id: values['grant-id'],
  }),
  list: (network, parameters) => network.balances.list(parameters),
  records: ({ balances }) => balances,
  columns: [
    { heading: 'ID', cell: ({ id }) => id },
    {
      heading: 'AMOUNT',
      isRight: true,
      minCells: neverShortened,
      cell: ({ amount, currency }) => money(amount, currency),
    },
    { heading: 'TYPE', cell: ({ type }) => type },
    updated,
  ],
});
