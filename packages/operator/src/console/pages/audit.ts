/** The audit log: who changed what, and why. */
import { auditFilters, filteredList } from '../filters.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { downloads } from '../parts.ts';
import type { Visit } from '../visit.ts';
import { auditTable } from './sentences.ts';

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
