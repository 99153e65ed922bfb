/** Where records come from: imports, feeds and batches, from the audit log. */
import type { AuditAction, AuditEntry } from '@partner-network/store/port';
import { html, type Value } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, pager, table, text, time } from '../parts.ts';
import type { Visit } from '../visit.ts';

const actions: readonly AuditAction[] = [
  'import brands',
  'import balances',
  'import grants',
  'import erasures',
  'batch brands',
  'batch balances',
  'batch grants',
];

const counts = ['written', 'unchanged', 'stale', 'deleted', 'rejected'] as const;

/** What an entry is about, such as "Feed of balances, after an hour". */
function kindOf({ action, details }: AuditEntry): string {
  const [verb, kind] = action.split(' ');
  if (details.feed !== undefined) {
    const when = { start: 'began', hour: 'one hour', end: 'ended' }[String(details.feed)] ?? '';
    return `Feed of ${kind}: ${when}`;
  }
  return verb === 'batch' ? `Batches of ${kind}` : `Import of ${kind}`;
}

const countOf = (count: unknown): Value => (typeof count === 'number' ? count.toLocaleString('en') : '–');

export async function dataPage({ call, query }: Visit): Promise<Page> {
  const { entries, cursor } = await call('listAudit', {
    query: { action: actions, cursor: query.cursor, limit: 50 },
  });
  const rows = entries.map((entry) => [
    time(entry.at),
    kindOf(entry),
    text(entry.actor),
    code(entry.target),
    text(String(entry.details.source ?? '–')),
    ...counts.map((name) => countOf(entry.details[name])),
  ]);
  const empty = html`Nothing was imported yet. Send a batch to the administrative API, or use
<code>partner-network import</code>.`;
  return {
    title: 'Data',
    place: 'data',
    body: html`<h1>Data</h1>
<p class="hint">Imports, feeds and batches that changed something, newest first, with the number of lines by
outcome. Feeds and batches have an entry each hour. For lag and rates, see the dashboard.</p>
${table(
  'Data',
  ['Time (UTC)', 'What', 'Who', 'Target', 'Source', 'Written', 'Unchanged', 'Stale', 'Deleted', 'Rejected'],
  rows,
  empty,
)}
${pager('/console/data', query, 'cursor', cursor)}`,
  };
}
