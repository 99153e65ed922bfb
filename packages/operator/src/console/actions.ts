/** The changes that a person can make: what each does, in words, and what it sends. */
import { newId } from '@partner-network/common/ids';
import { isPlainInteger } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { lengths, overlapSeconds, ratePerSecond } from '@partner-network/contract/limits';
import { type ListingName, listings } from '@partner-network/contract/operations';
import { scopes } from '@partner-network/contract/permissions';
import type { Partner } from '@partner-network/store/port';
import type { ShownKey } from '../admin/lists.ts';
import { grantStatus } from '../operations/grants.ts';
import { limitsInWords } from '../operations/partners.ts';
import type { Action, Subject } from './confirm.ts';
import { type Html, html } from './html.ts';
import type { Page } from './layout.ts';
import { code, facts, idLink, pathTo, plural, text, time, utcOf } from './parts.ts';
import type { Visit } from './visit.ts';

const forGood = 'Nobody can take this back.';

async function ofPartner({ call, ids }: Visit): Promise<Subject> {
  const { partner } = await call('getPartner', { path: ids });
  const name = html`Partner <b>${text(partner.name)}</b> ${code(partner.id)}`;
  return { name, back: pathTo('partners', partner.id), partner };
}

async function ofKey({ call, ids }: Visit): Promise<Subject> {
  const { key } = await call('getKey', { path: ids });
  const { partner } = await call('getPartner', { path: { id: key.partner_id } });
  const called = key.name !== undefined && html`<b>${text(key.name)}</b> `;
  const owner = html`partner <b>${text(partner.name)}</b> ${code(partner.id)}`;
  const name = html`Key ${called}${code(key.id)} of ${owner}, ends in …${key.last_four}`;
  const says = key.last_used_at
    ? html`Last accepted use (UTC): ${time(key.last_used_at)}.`
    : 'No use of it was ever accepted.';
  return { name, back: pathTo('keys', key.id), partner, key, says };
}

async function ofCustomer({ ids }: Visit): Promise<Subject> {
  const id = ids.customer_id!;
  return { name: html`Customer ${code(id)}`, back: pathTo('customers', id) };
}

async function ofGrant({ ids, reads }: Visit): Promise<Subject> {
  const customerId = ids.customer_id!;
  const grants = await reads.listGrants({ customerId, at: toTime(Date.now()) });
  const partnerId = grants.find(({ id }) => id === ids.id)?.partner_id ?? '';
  const active = grants.filter((one) => one.partner_id === partnerId && grantStatus(one) === 'ACTIVE');
  const others = active.filter(({ id }) => id !== ids.id).length;
  return {
    name: html`Grant ${code(ids.id!)} of customer ${code(customerId)} for partner ${code(partnerId)}`,
    back: pathTo('customers', customerId),
    says: `The partner has ${plural(others, 'other active grant')} of this customer.`,
  };
}

/** The id of the new key, so that a form that is sent twice creates one key. */
const newKeyField = ({ form }: Visit): Html =>
  html`<input type="hidden" name="new_id" value="${form.get('new_id') ?? newId('KEY')}">`;

const expiryField = ({ form }: Visit, empty: string) => html`<label for="expires_at">Expires (UTC)</label>
<input id="expires_at" name="expires_at" type="datetime-local" value="${form.get('expires_at') ?? ''}"
aria-describedby="about-expiry"><p class="hint" id="about-expiry">An empty field means ${empty}.</p>`;

function expiryOf(form: URLSearchParams): { readonly expires_at?: string } {
  const given = form.get('expires_at');
  return given ? { expires_at: utcOf(given) } : {};
}

/** Another form than that of our own ids is replaced: the page of a key called `..` has no address. */
function newKeyOf(form: URLSearchParams): { readonly id: string } {
  const asked = form.get('new_id') ?? '';
  return { id: /^KEY_\w+$/.test(asked) ? asked : newId('KEY') };
}

/** Whether a new key of the partner works. The end of a sentence. */
function worksFor(partner: Partner | undefined, when: 'now' | 'at once'): string {
  return partner?.disabled_at === undefined ? `works ${when}` : 'does not work while the partner is disabled';
}

type Issued = { readonly key: ShownKey; readonly secret?: string };

/** The only page that shows a secret. A repeated form gets the page without it. */
function secretPage({ key, secret }: Issued, { partner, key: old }: Subject, form: URLSearchParams): Page {
  const overlapMs = 1_000 * Number(form.get('overlap_seconds'));
  const oldEnd = Math.min(Date.parse(key.created_at) + overlapMs, Date.parse(old?.expires_at ?? '9999'));
  const state = key.status === 'active' ? worksFor(partner, 'now') : `is ${key.status}, so it does not work`;
  const shown =
    secret === undefined
      ? html`<p class="errors">This key exists already, and was shown when it was created. It ${state}. If it
is lost, revoke it and create another one.</p>`
      : html`<p class="notice" role="status">The key ${state}. Copy it: it is not shown again.</p>
<p><code class="secret" translate="no">${secret}</code></p>
<p><button id="copy" type="button" aria-live="polite" hidden>Copy the key</button></p>
<p class="hint">Give it to the partner over a channel that others cannot read.</p>`;
  return {
    title: 'New key',
    hasCopy: secret !== undefined,
    body: html`<div class="narrow"><h1>New key</h1>${shown}
${facts([
  ['Key', idLink('keys', key.id)],
  ['Partner', idLink('partners', key.partner_id)],
  ['Scopes', key.scopes.join(', ')],
  ['Expires (UTC)', time(key.expires_at, 'never')],
  ['The old key works until (UTC)', old && html`${time(toTime(oldEnd))} ${idLink('keys', old.id)}`],
])}</div>`,
  };
}

function scopesField({ form }: Visit): Html {
  const chosen = form.getAll('scopes');
  const boxes = scopes.map((scope) => {
    const checked = chosen.includes(scope) && html` checked`;
    const box = html`<input type="checkbox" name="scopes" value="${scope}"${checked}>`;
    return html`<label class="check">${box} ${scope}</label>`;
  });
  return html`<fieldset><legend>Scopes</legend><p class="hint">Choose at least one.</p>${boxes}</fieldset>`;
}

const overlaps = [
  [String(overlapSeconds.default), `${overlapSeconds.default / 3_600} hours`],
  ['3600', '1 hour'],
  ['604800', '7 days'],
  ['0', 'not at all: it is revoked now'],
] as const;

function overlapField({ form }: Visit): Html {
  const chosen = form.get('overlap_seconds') ?? overlaps[0][0];
  const options = overlaps.map(([seconds, words]) => {
    const selected = seconds === chosen && html` selected`;
    return html`<option value="${seconds}"${selected}>${words}</option>`;
  });
  return html`<label for="overlap_seconds">The old key still works for</label>
<select id="overlap_seconds" name="overlap_seconds">${options}</select>`;
}

/** Digits only. Other texts are sent unchanged, so that the check of the body refuses them. */
const numberIn = (text: string): number | string => (isPlainInteger(text) ? Number(text) : text);

function limitField({ form }: Visit, name: ListingName, partner?: Partner): Html {
  const { min, max } = ratePerSecond;
  return html`<label for="${name}">Requests for ${name} a second</label>
<input id="${name}" name="${name}" type="number" min="${min}" max="${max}" placeholder="default"
value="${form.get(name) ?? partner?.limits?.[name]}" aria-describedby="about-${name}">
<p class="hint" id="about-${name}">${min} to ${max.toLocaleString('en')}. An empty field means the
default of the service.</p>`;
}

/** An empty field is the default. */
const limitIn = (text: string) => (text === '' ? null : numberIn(text));

export const actions: readonly Action[] = [
  {
    operation: 'disablePartner',
    title: 'Disable the partner',
    isDanger: true,
    subject: ofPartner,
    effects: () => [
      'Within a second, all requests with its keys get 403 PARTNER_DISABLED.',
      'Keys and grants stay. An ADMIN can enable the partner again.',
    ],
    result: () => 'The partner is disabled.',
  },
  {
    operation: 'enablePartner',
    title: 'Enable the partner',
    subject: ofPartner,
    effects: () => ['Within a second, its keys work again, except revoked and expired ones.'],
    result: () => 'The partner is enabled.',
  },
  {
    operation: 'putPartner',
    path: '/partners/{id}/rename',
    title: 'Rename the partner',
    subject: ofPartner,
    effects: () => ['The name changes. Its id, keys and grants stay.'],
    fields: ({ form }, { partner }) => html`<label for="name">New name</label>
<input id="name" name="name" required maxlength="${lengths.partnerName}"
value="${form.get('name') ?? partner?.name}" autocomplete="off" dir="auto">`,
    body: ({ form }) => ({ name: form.get('name') }),
    result: () => 'The partner has its new name.',
  },
  {
    operation: 'putLimits',
    path: '/partners/{id}/limit',
    title: 'Change the limits',
    subject: ofPartner,
    effects: ({ partner }) => [
      'Within a second, all requests of its keys together are limited by these numbers.',
      `Its limits a second are now: ${limitsInWords(partner!)}.`,
    ],
    fields: (visit, { partner }) => html`${listings.map(({ name }) => limitField(visit, name, partner))}`,
    body: ({ form }) => Object.fromEntries(listings.map(({ name }) => [name, limitIn(form.get(name) ?? '')])),
    result: ({ partner }) => `The limits a second are now: ${limitsInWords(partner)}.`,
  },
  {
    operation: 'putKey',
    path: '/partners/{id}/create-key',
    title: 'Create a key',
    subject: ofPartner,
    effects: ({ partner }) => [
      `A new key ${worksFor(partner, 'at once')}.`,
      'It is shown once, on the next page.',
    ],
    fields: (visit) => html`${newKeyField(visit)}${scopesField(visit)}
<label for="name">Name, to recognize the key</label>
<input id="name" name="name" maxlength="${lengths.partnerName}" value="${visit.form.get('name') ?? ''}"
autocomplete="off" dir="auto">
${expiryField(visit, 'never')}`,
    target: newKeyOf,
    body: ({ form, ids }) => ({
      partner_id: ids.id,
      scopes: form.getAll('scopes'),
      ...(form.get('name') && { name: form.get('name') }),
      ...expiryOf(form),
    }),
    result: secretPage,
  },
  {
    operation: 'putKey',
    path: '/keys/{id}/rotate',
    title: 'Rotate the key',
    subject: ofKey,
    effects: ({ partner }) => [
      `A new key with the same partner, name, scopes and lifetime ${worksFor(partner, 'at once')}.`,
      'It is shown once, on the next page. The old key stops working later, as you choose here.',
    ],
    fields: (visit) => html`${newKeyField(visit)}${overlapField(visit)}
${expiryField(visit, 'the same lifetime as that of the old key')}`,
    target: newKeyOf,
    body: ({ form, ids }) => ({
      replaces: ids.id,
      overlap_seconds: numberIn(form.get('overlap_seconds') ?? ''),
      ...expiryOf(form),
    }),
    result: secretPage,
  },
  {
    operation: 'revokeKey',
    title: 'Revoke the key',
    isDanger: true,
    subject: ofKey,
    effects: ({ says }) => [
      'Within a second, all requests with this key get 401 API_KEY_REVOKED.',
      says,
      forGood,
    ],
    result: () => 'The key is revoked.',
  },
  {
    operation: 'revokeGrant',
    title: 'Revoke the grant',
    isDanger: true,
    subject: ofGrant,
    effects: ({ says }) => ['From now on, requests under this grant get 403 GRANT_REVOKED.', says, forGood],
    result: () => 'The grant is revoked.',
  },
  {
    operation: 'revokeGrants',
    title: 'Revoke all grants',
    isDanger: true,
    subject: ofCustomer,
    effects: () => [
      'From now on, no partner can read the balances of this customer.',
      'All active grants of the customer are revoked. New grants can be given later.',
      forGood,
    ],
    result: ({ grants }) => `${plural(grants.length, 'grant is', 'grants are')} revoked.`,
  },
  {
    operation: 'eraseCustomer',
    title: 'Erase the customer',
    isDanger: true,
    subject: ofCustomer,
    effects: () => [
      'All balances and grants of this customer are deleted.',
      'Records that are older than the erasure are not imported again. Receipts and the audit log stay.',
      forGood,
    ],
    fields: ({ form }) => html`<label for="confirm">Write the customer id to confirm</label>
<input id="confirm" name="confirm" required maxlength="${lengths.customerId}" autocomplete="off"
spellcheck="false" value="${form.get('confirm') ?? ''}">`,
    body: ({ form }) => ({ confirm: form.get('confirm') }),
    result: ({ balances, grants }) =>
      `${plural(balances, 'balance')} and ${plural(grants, 'grant')} were deleted.`,
  },
];
