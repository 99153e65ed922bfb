/** A partner: why it was refused, how much it is used, its keys, grants and changes. */
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { buttonTo, code, facts, mark, pager, pathTo, text, time } from '../parts.ts';
import { auditTable, grantTable, keyTable } from '../tables.ts';
import { usageOf } from '../usage.ts';
import type { Visit } from '../visit.ts';

export async function partnerPage(visit: Visit): Promise<Page> {
  const { call, may, query, ids } = visit;
  const id = ids.id!;
  const { partner } = await call('getPartner', { path: { id } });
  const { keys, cursor: moreKeys } = await call('listKeys', {
    query: { partner_id: id, limit: 25, cursor: query.keys },
  });
  const { grants, cursor: moreGrants } = await call('listGrants', {
    query: { partner_id: id, limit: 25, cursor: query.grants },
  });
  const { entries } = await call('listAudit', { query: { target: id, limit: 10 } });
  const { charts, refusals } = await usageOf(visit, { partner_id: id });
  const path = pathTo('partners', id);
  const isDisabled = partner.disabled_at !== undefined;
  return {
    title: partner.name,
    place: '',
    body: html`<h1>${text(partner.name)}</h1>
${facts([
  ['Partner', code(id)],
  ['State', mark(isDisabled ? 'disabled' : 'enabled')],
  ['Created (UTC)', time(partner.created_at)],
  ['Disabled (UTC)', partner.disabled_at && time(partner.disabled_at)],
])}
<p class="actions">${may('putKey') && buttonTo(`${path}/create-key`, 'Create a key')}
${may('putPartner') && buttonTo(`${path}/rename`, 'Rename')}
${isDisabled && may('enablePartner') && buttonTo(`${path}/enable`, 'Enable')}
${!isDisabled && may('disablePartner') && buttonTo(`${path}/disable`, 'Disable', true)}</p>
<h2>Why was it refused?</h2>
${isDisabled && html`<p class="errors">The partner is disabled: all of its keys are refused.</p>`}
${refusals}
<h2>Answers</h2>
${charts}
<h2>Keys</h2>
${keyTable(keys, html`No key. An ADMIN can create one here, or <code>partner-network keys create</code>.`)}
${pager(path, query, 'keys', moreKeys)}
<h2>Grants</h2>
${grantTable(visit, grants, 'partner', 'No grant. Imports and batches bring the grants of customers.')}
${pager(path, query, 'grants', moreGrants)}
<h2>Changes</h2>
${auditTable(entries, 'No change of this partner is in the audit log. Older versions did not keep one.')}
<p><a href="${`/console/audit?${new URLSearchParams({ target: id })}`}">All changes of this partner</a></p>`,
  };
}
