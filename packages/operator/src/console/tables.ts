/** Tables that several pages have. */
import type { Partner, Receipt } from '@partner-network/store/port';
import type { ShownKey } from '../admin/lists.ts';
import { nameOf } from '../identity/account.ts';
import { keyNames } from '../operations/audit.ts';
import type { ListedGrant } from '../operations/grants.ts';
import { type Html, html, type Value } from './html.ts';
import { code, idLink, mark, pathTo, table, text, time } from './parts.ts';
import { listed, outcomeOf } from './usage.ts';
import type { Visit } from './visit.ts';

export function keyTable(keys: readonly ShownKey[], { disabled_at }: Partner, empty: Value): Html {
  const rows = keys.map(({ id, name, status, scopes, last_four, last_used_at, expires_at }) => [
    html`${idLink('keys', id)}${name !== undefined && text(name)}`,
    mark(disabled_at && status === 'active' ? 'partner disabled' : status),
    scopes.join(', '),
    html`…${last_four}`,
    time(last_used_at, 'never'),
    time(expires_at, 'never'),
  ]);
  const columns = ['Key', 'Status', 'Scopes', 'Ends in', 'Last accepted use (UTC)', 'Expires (UTC)'];
  return table('Keys', columns, rows, empty);
}

/** Shows an actor by the name of the key or the account of the person. */
export async function actorNames({ reads }: Visit): Promise<(actor: string) => Html> {
  const names = await keyNames(reads);
  return (actor) => text(names.get(actor) ?? nameOf(actor));
}

/** The grants of a partner, or of a customer: then each can be revoked. */
export async function grantTable(
  visit: Visit,
  grants: readonly ListedGrant[],
  of: 'partner' | 'customer',
  empty: Value,
): Promise<Html> {
  const named = await actorNames(visit);
  const canRevoke = of === 'customer' && visit.may('revokeGrant');
  const rows = grants.map((grant) => {
    const { id, partner_id, customer_id, status, created_at, expires_at, revoked_at, revoked_by } = grant;
    const path = pathTo('customers', customer_id, 'grants', id, 'revoke');
    const revoke = html`<a class="danger" href="${path}">Revoke<span class="unseen"> ${id}</span></a>`;
    return [
      of === 'partner' ? idLink('customers', customer_id) : idLink('partners', partner_id),
      code(id),
      mark(status),
      time(created_at),
      time(expires_at, 'never'),
      html`${time(revoked_at)} ${revoked_by && named(revoked_by)}`,
      ...(canRevoke ? [status === 'ACTIVE' ? revoke : ''] : []),
    ];
  });
  const columns = [of === 'partner' ? 'Customer' : 'Partner', 'Grant', 'Status', 'Created (UTC)'];
  const ends = ['Expires (UTC)', 'Revoked (UTC)', ...(canRevoke ? ['Action'] : [])];
  return table('Grants', [...columns, ...ends], rows, empty);
}

export function receiptTable(receipts: readonly Receipt[], empty: Value): Html {
  const rows = receipts.map(
    ({ at, operation, outcome, partner_id, key_id, customer_id, grant_id, request_id }) => [
      time(at),
      outcomeOf(outcome),
      listed[operation],
      html`${idLink('partners', partner_id)} ${idLink('keys', key_id)}`,
      html`${customer_id ? idLink('customers', customer_id) : '–'} ${grant_id && code(grant_id)}`,
      idLink('requests', request_id),
    ],
  );
  const columns = ['Time (UTC)', 'Outcome', 'Asked for', 'Partner, key', 'Customer, grant', 'Request'];
  return table('Receipts', columns, rows, empty);
}
