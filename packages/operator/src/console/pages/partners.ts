/** One partner with its keys and brands. */
import { textOf } from '@partner-network/common/text';
import { notFound } from '../../admin/refusals.ts';
import { limitsInWords } from '../../operations/partners.ts';
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, facts, idLink, linkTo, mark, offers, pager, pathTo, text, time } from '../parts.ts';
import { actorNames, grantTable, keyTable } from '../tables.ts';
import { usageOf } from '../usage.ts';
import type { Visit } from '../visit.ts';
import { auditTable, nameOfActor, reasonOf } from './sentences.ts';

const noChange = (of: string) =>
  `No change of this ${of} is in the audit log. Older versions did not keep one.`;

export async function partnerPage(visit: Visit): Promise<Page> {
  const { call, query, ids } = visit;
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
  const action = ['partners disable', 'partners enable'];
  const { entries: switched } = await call('listAudit', { query: { target: id, action, limit: 1 } });
  const [last] = switched.filter(({ action }) => (action === 'partners disable') === isDisabled);
  const since =
    last === undefined
      ? partner.disabled_at && html` since ${time(partner.disabled_at)} (UTC)`
      : html` by ${nameOfActor(last)}, ${time(last.at)} (UTC)${reasonOf(last)}`;
  return {
    title: partner.name,
    place: '',
    body: html`<h1>${text(partner.name)}</h1>
${facts([
  ['Partner', code(id)],
  ['State', html`${mark(isDisabled ? 'disabled' : 'enabled')}${since}`],
  ['Created (UTC)', time(partner.created_at)],
  ['Limits a second', limitsInWords(partner)],
])}
${offers(visit, [
  ['putKey', `${path}/create-key`, 'Create a key'],
  ['putPartner', `${path}/rename`, 'Rename'],
  ['putLimits', `${path}/limit`, 'Change limits'],
  isDisabled && ['enablePartner', `${path}/enable`, 'Enable'],
  !isDisabled && ['disablePartner', `${path}/disable`, 'Disable', 'danger'],
])}
<nav class="jumps" aria-label="On this page"><a href="#answers">Answers</a> <a href="#keys">Keys</a>
<a href="#grants">Grants</a> <a href="#changes">Changes</a></nav>
<h2>Why was it refused?</h2>
${isDisabled && html`<p class="errors">The partner is disabled: all of its keys are refused.</p>`}
${refusals}
<h2 id="answers">Answers</h2>
${charts}
<h2 id="keys">Keys</h2>
${keyTable(keys, partner, 'No key. An ADMIN can create one here.')}
${pager(path, query, 'keys', moreKeys)}
<h2 id="grants">Grants</h2>
${await grantTable(visit, grants, 'partner', 'No grant. Imports and batches bring the grants of customers.')}
${pager(path, query, 'grants', moreGrants)}
<h2 id="changes">Changes</h2>
${await auditTable(visit, entries, noChange('partner'))}
<p>${linkTo('/console/audit', 'All changes of this partner', { target: id })}</p>`,
  };
}

export async function keyPage(visit: Visit): Promise<Page> {
  const { call, ids } = visit;
  const { key } = await call('getKey', { path: ids });
  const { partner } = await call('getPartner', { path: { id: key.partner_id } });
  const { entries } = await call('listAudit', { query: { target: key.id, limit: 10 } });
  const { charts, refusals } = await usageOf(visit, { partner_id: key.partner_id, key_id: key.id });
  const path = pathTo('keys', key.id);
  const newKey = entries.find(({ action }) => action === 'keys rotate')?.details.new_key_id;
  const canRotate = key.status === 'active' && newKey === undefined;
  return {
    title: `Key ${key.id}`,
    place: '',
    body: html`<h1>Key ${text(key.name ?? key.id)}</h1>
${facts([
  ['Key', code(key.id)],
  ['Status', mark(partner.disabled_at && key.status === 'active' ? 'partner disabled' : key.status)],
  ['Partner', html`${linkTo(pathTo('partners', partner.id), partner.name)} ${code(partner.id)}`],
  ['Scopes', key.scopes.join(', ')],
  ['Ends in', html`…${key.last_four}`],
  ['Last accepted use (UTC)', time(key.last_used_at, 'never')],
  ['Created (UTC)', time(key.created_at)],
  ['Created by', key.created_by && (await actorNames(visit))(key.created_by)],
  ['Expires (UTC)', time(key.expires_at, 'never')],
  ['Revoked (UTC)', key.revoked_at && time(key.revoked_at)],
  ['Replaced by', newKey !== undefined && idLink('keys', textOf(newKey))],
])}
${offers(visit, [
  canRotate && ['putKey', `${path}/rotate`, 'Rotate'],
  key.revoked_at === undefined && ['revokeKey', `${path}/revoke`, 'Revoke', 'danger'],
])}
${!canRotate && html`<p class="hint">Only an active key without a newer one can be rotated.</p>`}
<h2>Why was it refused?</h2>
${refusals}
<h2>Answers</h2>
${charts}
<h2>Changes</h2>
${await auditTable(visit, entries, noChange('key'))}`,
  };
}

export async function brandPage({ reads, ids }: Visit): Promise<Page> {
  const brands = await reads.findBrands(ids.id!);
  const brand = brands.find(({ partner_id }) => partner_id === ids.partner_id);
  if (brand === undefined) throw notFound('The partner has no brand with this id.');
  const { id, partner_id, name, reference_id, color, profile_image_url: image } = brand;
  return {
    title: name,
    body: html`<h1>${text(name)}</h1>
${facts([
  ['Brand', code(id)],
  ['Partner', idLink('partners', partner_id)],
  ['Reference', code(reference_id)],
  ['Color', color],
  ['Image', image === undefined ? 'none: partners get a placeholder' : text(image)],
  ['Created (UTC)', time(brand.created_at)],
  ['Updated (UTC)', time(brand.updated_at)],
])}`,
  };
}
