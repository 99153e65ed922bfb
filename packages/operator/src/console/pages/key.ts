/** A key: its record, its use, and why it was refused. */
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { buttonTo, code, facts, linkTo, mark, pathTo, text, time } from '../parts.ts';
import { auditTable } from '../tables.ts';
import { usageOf } from '../usage.ts';
import type { Visit } from '../visit.ts';

export async function keyPage(visit: Visit): Promise<Page> {
  const { call, may, ids } = visit;
  const { key } = await call('getKey', { path: ids });
  const { partner } = await call('getPartner', { path: { id: key.partner_id } });
  const { entries } = await call('listAudit', { query: { target: key.id, limit: 10 } });
  const { charts, refusals } = await usageOf(visit, { partner_id: key.partner_id, key_id: key.id });
  const path = pathTo('keys', key.id);
  const isActive = key.status === 'active';
  return {
    title: `Key ${key.id}`,
    place: '',
    body: html`<h1>Key ${text(key.name ?? key.id)}</h1>
${facts([
  ['Key', code(key.id)],
  ['Status', mark(key.status)],
  ['Partner', html`${linkTo(pathTo('partners', partner.id), partner.name)} ${code(partner.id)}`],
  ['Scopes', key.scopes.join(', ')],
  ['Ends in', html`…${key.last_four}`],
  ['Last use (UTC)', time(key.last_used_at, 'never')],
  ['Created (UTC)', time(key.created_at)],
  ['Created by', key.created_by && text(key.created_by)],
  ['Expires (UTC)', time(key.expires_at, 'never')],
  ['Revoked (UTC)', key.revoked_at && time(key.revoked_at)],
])}
<p class="actions">${isActive && may('putKey') && buttonTo(`${path}/rotate`, 'Rotate')}
${key.revoked_at === undefined && may('revokeKey') && buttonTo(`${path}/revoke`, 'Revoke', true)}</p>
<h2>Why was it refused?</h2>
${refusals}
<h2>Answers</h2>
${charts}
<h2>Changes</h2>
${auditTable(entries, 'No change of this key is in the audit log. Older versions did not keep one.')}`,
  };
}
