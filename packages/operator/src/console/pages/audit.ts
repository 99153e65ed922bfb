/** The audit log: who changed what, and why, and where the records come from. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditAction } from '@partner-network/store/port';
import type { AnswerOf } from '../../admin/calls.ts';
import { refusalOfBody } from '../../admin/refusals.ts';
import type { NamedEntry } from '../../operations/audit.ts';
import { html, type Value } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, filterForm, filtersOf, pager, table, text, time } from '../parts.ts';
import { auditTable, who } from '../tables.ts';
import type { Outcome, Visit } from '../visit.ts';

const filters = {
  target: 'Target',
  actor: 'Who',
  action: 'What, such as keys revoke',
  since: 'From (UTC)',
  until: 'Before (UTC)',
};

export async function auditPage({ call, query }: Visit): Promise<Page> {
  const chosen = filtersOf(filters, query);
  const { entries, cursor } = await call('listAudit', {
    query: { ...chosen, cursor: query.cursor, limit: 50 },
  });
  const file = `/console/audit.jsonl?${new URLSearchParams(chosen)}`;
  return {
    title: 'Audit log',
    place: 'audit',
    body: html`<h1>Audit log</h1>
<p class="hint">Every change, newest first. Entries cannot be changed or deleted.</p>
${filterForm('/console/audit', filters, query)}
${entries.length > 0 && html`<p><a href="${file}">Download all with these filters as JSON Lines</a></p>`}
${auditTable(entries, 'No change with these filters. Remove some of them, or choose an earlier time.')}
${pager('/console/audit', query, 'cursor', cursor)}`,
  };
}

/** Entries of one file. It is made in memory. */
const mostEntries = 10_000;

/** All entries that the filters select, one JSON document per line. */
export async function auditFile({ call, query }: Visit): Promise<Outcome> {
  const chosen = filtersOf(filters, query);
  const lines: string[] = [];
  let cursor: string | undefined;
  do {
    const page: AnswerOf<'listAudit'>['body'] = await call('listAudit', {
      query: { ...chosen, cursor, limit: 100 },
    });
    cursor = page.cursor;
    lines.push(...page.entries.map((entry) => `${JSON.stringify(entry)}\n`));
    if (lines.length > mostEntries) {
      const detail =
        `The filters select more than ${mostEntries} entries. Choose a shorter time, ` +
        'or use "partner-network audit".';
      throw refusalOfBody([{ code: 'VALUE_TOO_HIGH', detail, field: undefined }]);
    }
    // The embedded database is synchronous: without this pause, other requests would wait until the end.
    await nextTurn();
  } while (cursor !== undefined);
  return { file: lines.join(''), name: 'audit.jsonl' };
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
