/** The commands that a partner runs: they list records over HTTP with an API key, without a database. */
import { type Balance, type Brand, type PageList, PartnerNetwork } from '@partner-network/client';
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
import { createProgress } from '@partner-network/common/command-line/progress';
import { type Columns, growingTable } from '@partner-network/common/command-line/table';
import { lengths, pageSize } from '@partner-network/contract/limits';
import { filtersOf, type ListingName, listingByName } from '@partner-network/contract/operations';
import { balanceSchema } from '@partner-network/contract/records';
import { money } from '../money.ts';
import { callOptions, explained, keyVariable } from './call.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

/** A page of either listing. Its records are in the field with the name of the listing. */
type Page<R> = { readonly [Name in ListingName]?: readonly R[] } & { readonly cursor?: string };

/** `filters` are flags with the names of their parameters, or with the names that `flags` gives them. */
function listCommand<R>(
  name: ListingName,
  filters: Options,
  columns: Columns<R>,
  flags: Readonly<Record<string, string>> = {},
): Command {
  const options: Options & typeof callOptions = { ...filters, ...callOptions };
  const optionOf = (parameter: string) => flags[parameter] ?? parameter.replaceAll('_', '-');

  function flagOf(parameter: string): string | undefined {
    const option = optionOf(parameter);
    return Object.hasOwn(options, option) ? `--${option}` : undefined;
  }

  /** Prints a JSON document of the shape of the service's answer, or a table on a terminal, or JSON Lines. */
  async function printPages(query: Query, values: Values<typeof callOptions>, output: Output) {
    const { all, json, 'base-url': address, 'api-key': apiKey } = values;
    const { isTTY } = process.stdout;
    using progress = createProgress(process.stderr);
    // The client retries silently.
    let answer = '';
    const onRequest = () => progress.step(`waiting for ${address.url}${answer}`);
    const onResponse = ({ status }: { readonly status: number }) => {
      answer = status < 400 ? '' : `, which answered ${status}`;
    };
    const network = new PartnerNetwork({ apiKey: apiKey!, baseUrl: address.url, onRequest, onResponse });
    const list = network[name].list(query as never) as unknown as PageList<Page<R>, R>;
    const document = growingJson(output.write, `{"${name}":[`);
    const { rows, note } = growingTable(columns);
    const linesOf = isTTY ? rows : jsonLines;
    let count = 0;
    let last: Page<R> | undefined;
    try {
      for await (const page of all ? list.pages() : [list]) {
        progress.clear();
        const records = page[name]!;
        if (records.length > 0) await (json ? document.add(records) : output.write(linesOf(records)));
        count += records.length;
        last = page;
      }
    } catch (error) {
      progress.clear();
      await document.cut();
      if (last !== undefined)
        output.remark('The output is incomplete: not all pages arrived. Run the command again.', 'warning');
      throw explained(error, address, flagOf);
    }
    const cursor = last?.cursor;
    if (json) return document.end(cursor === undefined ? ']}' : `],"cursor":${jsonText(cursor)}}`);
    const total = `${count.toLocaleString('en-US')} ${count === 1 ? name.slice(0, -1) : name}`;
    if (isTTY) await output.write(count === 0 ? `No ${name}.\n` : `\n${total}.\n${note()}`);
    // On standard error, so that the reader of a pipe does not take one page for all records.
    const more = `There are more ${name}. --all lists every page, and --json prints the next cursor.`;
    if (cursor !== undefined) output.remark(more);
  }

  return command({
    options,
    conflicts: ({ curl, json }) =>
      curl && json ? ['--curl and --json exclude each other: use one of them.'] : [],
    run: async (values, _words, output) => {
      const { all, curl, cursor, limit = all ? pageSize.max : undefined } = values;
      const given = filtersOf(listingByName[name]).map((filter) => [filter, values[optionOf(filter)]]);
      const query: Query = { ...Object.fromEntries(given), cursor, limit };
      if (!curl) return printPages(query, values, output);
      output.answer(curlLine(`${values['base-url'].url}/${name}`, query));
      const next = 'If the answer has a cursor, add &cursor=CURSOR to the URL for the next page.';
      if (all) output.remark(`This line gets one page. ${next}`);
    },
  });
}

function jsonLines(records: readonly unknown[]): string {
  return records.map((record) => `${jsonText(record)}\n`).join('');
}

/** The call as a curl command for a POSIX shell. The key stays in its variable, so it is not shown. */
function curlLine(address: string, parameters: Query): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  const url = query.size === 0 ? address : `${address}?${query}`;
  return `curl -H "Authorization: Bearer $${keyVariable}" '${url.replaceAll("'", "'\\''")}'`;
}

export const listBrands = listCommand<Brand>(
  'brands',
  { 'reference-id': optional('ID', plainText(lengths.referenceId), 'only brands with this reference_id') },
  [
    ['ID', ({ id }) => id, 'id'],
    ['NAME', ({ name }) => name],
    ['REFERENCE', ({ reference_id }) => reference_id],
    ['UPDATED', ({ updated_at = '' }) => updated_at, 'time'],
    ['COLOR', ({ color = '' }) => color, 'whole'],
  ],
);

const types = balanceSchema.properties.type.enum;
const anyGrant = 'grant to use; without it, any active grant';

export const listBalances = listCommand<Balance>(
  'balances',
  {
    customer: required('ID', plainText(lengths.customerId), 'customer whose balances to list'),
    type: defaulted(types.join('|'), oneOf(types), types[0], 'type of the balances'),
    'grant-id': optional('ID', plainText(lengths.grantId), anyGrant),
  },
  [
    ['ID', ({ id }) => id, 'id'],
    ['AMOUNT', ({ amount, currency }) => money(amount, currency), 'number'],
    ['TYPE', ({ type }) => type, 'whole'],
    ['UPDATED', ({ updated_at = '' }) => updated_at, 'time'],
  ],
  { customer_id: 'customer' },
);
