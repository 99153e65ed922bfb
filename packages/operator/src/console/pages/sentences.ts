/** Entries of the audit log, each as a sentence. */
import { textOf } from '@partner-network/common/text';
import type { AuditAction } from '@partner-network/store/port';
import { nameOf } from '../../identity/account.ts';
import type { NamedEntry } from '../../operations/audit.ts';
import { type Html, html, type Value } from '../html.ts';
import { code, details, idLink, linkTo, pathTo, plural, table, text, time } from '../parts.ts';
import type { Visit } from '../visit.ts';

type Details = NamedEntry['details'];

/** What was done. `partner` links to a partner by its name. */
type Sentence = (entry: Pick<NamedEntry, 'target' | 'details'>, partner: (id: unknown) => Html) => Value;

const key = (id: unknown) => idLink('keys', textOf(id));
const customer = (id: unknown) => html`the customer ${idLink('customers', textOf(id))}`;

/** Numbers of things in brackets, such as " (2 balances, 1 grant)". Zeros are left out. */
function numbersOf(counts: unknown, one = true): string {
  const given = Object.entries((counts ?? {}) as Details).filter(([, count]) => Number(count) > 0);
  const shown = given.map(([name, count]) =>
    plural(Number(count), one ? name.replace(/s$/, '') : name, name),
  );
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`;
}

const change = (from: unknown, to: unknown) => html` from ${text(textOf(from))} to ${text(textOf(to))}`;

/** A text with words before it, or nothing. */
const after = (before: string, said: Value) => said !== '' && said !== undefined && html`${before}${said}`;

/** What an import, a feed or the batches of an hour did. */
function loaded(kind: string): Sentence {
  return ({ target, details: { feed, source, batches, ...rest } }, partner) => {
    const { written, unchanged, stale, deleted, rejected } = rest;
    const verb = { start: 'began to import', hour: 'goes on to import', end: 'ended to import' };
    const own = batches === undefined ? 'imported' : `sent ${plural(Number(batches), 'batch', 'batches')} of`;
    const of = target !== kind && html` of ${partner(target)}`;
    const lines = numbersOf({ written, unchanged, stale, deleted, rejected }, false);
    const said = verb[feed as keyof typeof verb] ?? own;
    return html`${said} ${kind}${of}${after(' from ', text(textOf(source)))}${lines}`;
  };
}

const pruned =
  (what: string, one: string): Sentence =>
  ({ details: { before, [what]: count } }) =>
    html`deleted ${plural(Number(count), one)} from before ${time(textOf(before))}`;

const sentences: Readonly<Record<AuditAction, Sentence>> = {
  'partners create': ({ target }, partner) => html`created the partner ${partner(target)}`,
  'partners rename': ({ target, details: { from, to } }, partner) =>
    html`renamed ${partner(target)}${from !== undefined && change(from, to)}`,
  'partners disable': ({ target }, partner) => html`disabled ${partner(target)}`,
  'partners enable': ({ target }, partner) => html`enabled ${partner(target)}`,
  'partners limit': ({ target, details: { from, to } }, partner) => {
    const limits = (of: unknown) => (of ?? {}) as Readonly<Record<string, number>>;
    const changed = ['brands', 'balances'].filter((name) => limits(from)[name] !== limits(to)[name]);
    const said = (name: string, of: unknown) => limits(of)[name] ?? 'the default';
    const changes = changed.map((name) => `${name} from ${said(name, from)} to ${said(name, to)}`);
    return html`set the limits of ${partner(target)}: ${changes.join(', ')}`;
  },
  'partners import': ({ details: { created, changed } }) =>
    html`imported partners and keys${after(', new', numbersOf(created))}\
${after(', changed', numbersOf(changed))}`,
  'keys create': ({ target, details: { partner_id, scopes } }, partner) =>
    html`created ${key(target)} of ${partner(partner_id)}${after(' for ', [scopes].flat().join(', '))}`,
  'keys rotate': ({ target, details: { partner_id, new_key_id } }, partner) =>
    html`replaced ${key(target)} of ${partner(partner_id)} by ${key(new_key_id)}`,
  'keys revoke': ({ target, details: { partner_id } }, partner) =>
    html`revoked ${key(target)} of ${partner(partner_id)}`,
  'admin-keys create': ({ target, details: { role } }) =>
    html`created the administrative key ${code(target)} with the role ${textOf(role)}`,
  'admin-keys rotate': ({ target, details: { new_key_id } }) =>
    html`replaced the administrative key ${code(target)} by ${code(textOf(new_key_id))}`,
  'admin-keys revoke': ({ target }) => html`revoked the administrative key ${code(target)}`,
  'grants create': ({ target, details: { partner_id, customer_id } }, partner) =>
    html`gave ${partner(partner_id)} the grant ${code(target)} of ${customer(customer_id)}`,
  'grants revoke': ({ target, details: { partner_id, customer_id, grants } }, partner) =>
    customer_id === undefined
      ? html`revoked ${plural([grants].flat().length, 'grant')} of ${customer(target)}`
      : html`revoked the grant ${code(target)} of ${customer(customer_id)} for ${partner(partner_id)}`,
  'customers erase': ({ target, details: { balances, grants } }) =>
    html`erased ${customer(target)}${numbersOf({ balances, grants })}`,
  'cursor-key rotate': () => 'replaced the key of cursors',
  'console sign-in': ({ details: { outcome, role } }) =>
    outcome === 'refused' ? 'tried to sign in to the console' : `signed in to the console as ${textOf(role)}`,
  'import brands': loaded('brands'),
  'import balances': loaded('balances'),
  'import grants': loaded('grants'),
  'import erasures': ({ details: { erased } }) =>
    html`imported the erasure of ${plural(Number(erased), 'customer')}`,
  'batch brands': loaded('brands'),
  'batch balances': loaded('balances'),
  'batch grants': loaded('grants'),
  'receipts prune': pruned('receipts', 'receipt'),
  'usage prune': pruned('usage', 'count of answers'),
  sandbox: ({ target }) => html`added demo data: ${code(target)}`,
  'write probe': () => 'tried a change',
};

/** Who made a change: a person, or a key by its name and id. */
export const who = ({ actor, actor_name }: NamedEntry): Html =>
  html`${actor_name && html`<b>${text(actor_name)}</b> `}${text(nameOf(actor))}`;

/** A person or a key by its name. */
export const nameOfActor = ({ actor, actor_name }: NamedEntry): Html => text(actor_name ?? nameOf(actor));

export const reasonOf = ({ details: { reason } }: NamedEntry): Value =>
  after(': ', reason === undefined ? '' : text(textOf(reason)));

export async function auditTable({ reads }: Visit, entries: readonly NamedEntry[], empty: Value) {
  const ids = entries.flatMap(({ target, details: { partner_id } }) => [target, textOf(partner_id)]);
  const names = await reads.partnerNames([...new Set(ids)]);
  const partner = (id: unknown) => {
    const name = names.get(textOf(id));
    return name === undefined ? idLink('partners', textOf(id)) : linkTo(pathTo('partners', textOf(id)), name);
  };
  const rows = entries.map((entry) => {
    const { at, actor, action, target, details: own, db_user, client_address } = entry;
    // A later version may have written the entry.
    const sentence: Sentence = sentences[action] ?? (() => html`${action} ${code(target)}`);
    const raw = details({ action, target, actor, ...own, db_user, client_address });
    return [
      time(at),
      html`<b>${nameOfActor(entry)}</b>${after(' for ', textOf(own.on_behalf_of))}
${sentence(entry, partner)}${reasonOf(entry)}`,
      html`<details><summary>Details</summary>${raw}</details>`,
    ];
  });
  return table('Audit log', ['Time (UTC)', 'Change', 'Details'], rows, empty);
}
