/** Entries of the audit log, each as a sentence. */
import { textOf } from '@partner-network/common/text';
import type { AuditAction, Limits } from '@partner-network/store/port';
import { nameOf } from '../../identity/account.ts';
import type { NamedEntry } from '../../operations/audit.ts';
import { limitsInWords } from '../../operations/partners.ts';
import { type Html, html, type Value } from '../html.ts';
import { code, idLink, linkTo, pathTo, plural, table, text, time } from '../parts.ts';
import type { Visit } from '../visit.ts';

export const lineOutcomes = ['written', 'unchanged', 'stale', 'deleted', 'rejected'] as const;

/** Numbers of lines and records, such as "2 balances, 1 grant". Zeros are left out. */
export function numbersOf(counts: unknown): string {
  const names = [...lineOutcomes, 'partners', 'keys', 'balances', 'grants'];
  const given = names.flatMap((name) => {
    const count = (counts as NamedEntry['details'] | undefined)?.[name];
    return typeof count === 'number' && count > 0 ? plural(count, name.replace(/s$/, ''), name) : [];
  });
  return given.join(', ');
}

/** What was done. `{key}` shows the target as a key, and `{key new_key_id}` a detail. */
type Sentence = string | ((entry: NamedEntry) => string);

/** What an import, a feed or the batches of an hour did. */
const loaded: Sentence = ({ action, target, details: { feed, batches, source } }) => {
  const kind = action.split(' ')[1]!;
  const verb = { start: 'began to import', hour: 'goes on to import', end: 'ended to import' };
  const own = batches === undefined ? 'imported' : `sent ${plural(Number(batches), 'batch', 'batches')} of`;
  const of = target === kind ? '' : ' of {partner}';
  const from = source === undefined ? '' : ' from {text source}';
  return `${verb[feed as keyof typeof verb] ?? own} ${kind}${of}${from}`;
};

const limitsIn = (limits: unknown) => limitsInWords({ limits: (limits ?? {}) as Limits });

const sentences: Readonly<Partial<Record<AuditAction, Sentence>>> = {
  'partners create': 'created the partner {partner}',
  'partners rename': ({ details: { from } }) =>
    `renamed {partner}${from === undefined ? '' : ' from {text from} to {text to}'}`,
  'partners disable': 'disabled {partner}',
  'partners enable': 'enabled {partner}',
  'partners limit': ({ details: { from, to } }) =>
    `set the limits of {partner} from ${limitsIn(from)} to ${limitsIn(to)}`,
  'partners import': ({ details: { created, changed } }) =>
    `imported partners and keys: ${numbersOf(created) || 'none'} new, ${numbersOf(changed) || 'none'} changed`,
  'keys create': 'created {key} of {partner partner_id} for {text scopes}',
  'keys rotate': 'replaced {key} of {partner partner_id} by {key new_key_id}',
  'keys revoke': 'revoked {key} of {partner partner_id}',
  'admin-keys create': 'created the administrative key {code} with the role {text role}',
  'admin-keys rotate': 'replaced the administrative key {code} by {code new_key_id}',
  'admin-keys revoke': 'revoked the administrative key {code}',
  'grants create': 'gave {partner partner_id} the grant {code} of {customer customer_id}',
  'grants revoke': ({ details: { customer_id, grants } }) =>
    customer_id === undefined
      ? `revoked ${plural([grants].flat().length, 'grant')} of {customer}`
      : 'revoked the grant {code} of {customer customer_id} for {partner partner_id}',
  'customers erase': 'erased {customer}',
  'cursor-key rotate': 'replaced the key of cursors',
  'console sign-in': ({ details: { outcome } }) =>
    outcome === 'refused' ? 'tried to sign in to the console' : 'signed in to the console as {text role}',
  'import erasures': ({ details: { erased } }) =>
    `imported the erasure of ${typeof erased === 'number' ? plural(erased, 'customer') : 'customers'}`,
  'receipts prune': 'deleted receipts from before {time before}: {text receipts}',
  'usage prune': 'deleted counts of answers from before {time before}: {text usage}',
  sandbox: 'added demo data: {code}',
};

/** A person or a key by its name. */
export const nameOfActor = ({ actor, actor_name }: NamedEntry): Html => text(actor_name ?? nameOf(actor));

export const reasonOf = ({ details: { reason } }: NamedEntry): Value =>
  reason !== undefined && html`: ${text(textOf(reason))}`;

/** The sentence of an entry. `names` has the names of partners by their ids. */
function sentenceOf(entry: NamedEntry, names: ReadonlyMap<string, string>): Html {
  const { action, target, details } = entry;
  const shown: Readonly<Record<string, (said: string) => Html>> = {
    partner: (id) =>
      names.has(id) ? linkTo(pathTo('partners', id), names.get(id)!) : idLink('partners', id),
    key: (id) => idLink('keys', id),
    customer: (id) => html`the customer ${idLink('customers', id)}`,
    code,
    text,
    time,
  };
  // A later version may have written the entry.
  const known = Object.hasOwn(sentences, action) ? sentences[action] : undefined;
  const own = known ?? (/^(?:import|batch) /.test(action) ? loaded : `${action} {code}`);
  const pattern = typeof own === 'string' ? own : own(entry);
  const parts = pattern.split(/[{}]/).map((part, at) => {
    if (at % 2 === 0) return part;
    const [kind = '', field] = part.split(' ');
    const said = field === undefined ? target : details[field];
    return Object.hasOwn(shown, kind) && shown[kind]!([said].flat().map(textOf).join(', '));
  });
  const numbers = numbersOf(details);
  return html`${parts}${numbers !== '' && ` (${numbers})`}`;
}

export async function auditTable({ reads }: Visit, entries: readonly NamedEntry[], empty: Value) {
  const ids = entries.flatMap(({ target, details: { partner_id } }) => [target, textOf(partner_id)]);
  const names = await reads.partnerNames([...new Set(ids)]);
  const rows = entries.map((entry) => {
    const { at, actor, action, target, details: own, db_user, client_address } = entry;
    const by = own.on_behalf_of !== undefined && html` for ${textOf(own.on_behalf_of)}`;
    const raw = Object.entries({ action, target, actor, ...own, db_user, client_address }).map(
      ([name, value]) =>
        value != null && html`<span class="pair"><b>${name}</b> ${text(textOf(value))}</span> `,
    );
    return [
      time(at),
      html`<b>${nameOfActor(entry)}</b>${by} ${sentenceOf(entry, names)}${reasonOf(entry)}`,
      html`<details><summary>Details</summary>${raw}</details>`,
    ];
  });
  return table('Audit log', ['Time (UTC)', 'Change', 'Details'], rows, empty);
}
