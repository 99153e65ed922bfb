/** The audit log: who changed what, and why, and where the records come from. */
import type { AuditAction } from '@partner-network/store/port';
import type { NamedEntry } from '../../operations/audit.ts';
import { auditFilters, filteredList } from '../filters.ts';
import { html, type Value } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, downloads, pager, table, text, time } from '../parts.ts';
import type { Visit } from '../visit.ts';
import { auditTable, who } from './sentences.ts';

export async function auditPage(visit: Visit): Promise<Page> {
  const empty = 'No change with these filters. Remove some of them, or choose an earlier time.';
  const list = await filteredList(visit, '/console/audit', auditFilters, async (query, chosen) => {
    const { entries, cursor } = await visit.call('listAudit', { query });
    const link = entries.length > 0 && downloads('audit', chosen, 'entries with these filters');
    return { list: html`${link}${await auditTable(visit, entries, empty)}`, cursor };
  });
  return {
    title: 'Audit log',
    place: 'audit',
    body: html`<h1>Audit log</h1>
<p class="hint">Every change, newest first. Entries cannot be changed or deleted.</p>
${list}`,
  };
}

/** The actions that the page "Data" lists. */
const dataActions: readonly AuditAction[] = [
  'import brands',
  'import balances',
  'import grants',
  'import erasures',
  'batch brands',
  'batch balances',
  'batch grants',
];

const lineCounts = ['written', 'unchanged', 'stale', 'deleted', 'rejected'] as const;

/** What an entry is about, such as "Feed of balances, after an hour". */
function kindOf({ action, details }: NamedEntry): string {
  const [verb, kind] = action.split(' ');
  if (details.feed !== undefined) {
    const when = { start: 'began', hour: 'one hour', end: 'ended' }[String(details.feed)] ?? '';
    return `Feed of ${kind}: ${when}`;
  }
  return verb === 'batch' ? `Batches of ${kind}` : `Import of ${kind}`;
}

const countOf = (count: unknown): Value => (typeof count === 'number' ? count : '–');

export async function dataPage({ call, query }: Visit): Promise<Page> {
  const { entries, cursor } = await call('listAudit', {
    query: { action: dataActions, cursor: query.cursor, limit: 50 },
  });
  const rows = entries.map((entry) => [
    time(entry.at),
    kindOf(entry),
    who(entry),
    code(entry.target),
    text(String(entry.details.source ?? '–')),
    ...lineCounts.map((name) => countOf(entry.details[name])),
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
