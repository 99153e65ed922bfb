/** Downloads of whole lists. A page of a list is read when the client has read the previous page. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { textOf } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { type AdminOperation, adminOperations } from '@partner-network/contract/admin/operations';
import { adminRecords } from '@partner-network/contract/admin/records';
import { parseParameters } from '@partner-network/http/request';
import type { Download, Visit } from '../visit.ts';

type Row = Readonly<Record<string, unknown>>;

const lists = {
  receipts: ['listReceipts', 'receipts', adminRecords.Receipt],
  audit: ['listAudit', 'entries', adminRecords.AuditEntry],
  usage: ['listUsage', 'usage', adminRecords.UsageCount],
} as const;

export type Downloadable = keyof typeof lists;

/** What a file begins with, and its lines. */
const forms = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: (columns: readonly string[]) => `${columns.join()}\r\n`,
    line: (row: Row, columns: readonly string[]) => `${columns.map((name) => cellOf(row[name])).join()}\r\n`,
  },
  jsonl: { type: 'application/x-ndjson', head: () => '', line: (row: Row) => `${JSON.stringify(row)}\n` },
};

/**
 * A spreadsheet runs a text that begins like this, in some languages also in the full width of East Asia.
 * Behind an apostrophe, it shows the text.
 */
const formula = /^\s*[=+@\-＝＋＠－]|^[\t\r\n]/;

function cellOf(value: unknown): string {
  const text = typeof value === 'string' && formula.test(value) ? `'${value}` : textOf(value);
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The names and forms of files, such as `audit.csv`. */
export const files = (Object.keys(lists) as Downloadable[]).flatMap((list) =>
  (Object.keys(forms) as (keyof typeof forms)[]).map((form) => [list, form] as const),
);

/** The query of the request has the filters, as the API takes them. */
export async function download(
  { call, exchange }: Visit,
  [list, form]: (typeof files)[number],
): Promise<Download> {
  const [id, name, { properties }] = lists[list];
  const columns = Object.keys(properties);
  const { type, head, line } = forms[form];
  const { parameters }: AdminOperation = adminOperations[id];
  const filters = parseParameters({ parameters: parameters! }, exchange.query);
  const read = async (cursor?: string) => {
    const query = { ...filters, limit: adminBounds.downloadedAtOnce, cursor };
    const page: Row & { readonly cursor?: string } = await call(id, { query });
    return { lines: (page[name] as Row[]).map((row) => line(row, columns)).join(''), next: page.cursor };
  };
  // What is wrong with a filter is said by a page.
  const first = await read();
  async function* file() {
    yield head(columns) + first.lines;
    for (let { next } = first; next !== undefined; ) {
      // The embedded database is synchronous: other requests get their turn.
      await nextTurn();
      const page = await read(next);
      yield page.lines;
      next = page.next;
    }
  }
  const { limit: _, cursor: __, ...chosen } = filters;
  const words = [list, ...Object.values(chosen), toTime(Date.now()).slice(0, 16)];
  const stem = words
    .filter(Boolean)
    .join('-')
    .replaceAll(/[^\w.-]+/g, '_');
  return { file: file(), name: `${stem.slice(0, 120)}.${form}`, type };
}
