/** The audit log: who changed what, and why. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnswerOf } from '../../admin/calls.ts';
import { refusalOfBody } from '../../admin/refusals.ts';
import { filterForm, filtersOf } from '../filters.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { pager } from '../parts.ts';
import { auditTable } from '../tables.ts';
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
