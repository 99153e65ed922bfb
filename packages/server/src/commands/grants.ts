import { lengths } from '@partner-network/contract/limits';
import { expiresAt, optional, plainText, required } from '../command-line/options.ts';
import { newId } from '../lib/ids.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { toTime } from '../lib/times.ts';
import type { Grant } from '../store/port.ts';
import {
  customerId,
  explainConflict,
  isPast,
  listReport,
  missing,
  onDatabase,
  partnerId,
  remarkPastExpiry,
  requirePartner,
} from './database.ts';

export const createGrant = onDatabase({
  options: {
    partner: required('ID', partnerId, 'partner that may read the balances'),
    customer: required('ID', customerId, 'customer whose balances the partner may read'),
    id: optional('ID', plainText(lengths.grantId), 'id of the grant; without it, a new id'),
    'expires-at': expiresAt('the grant'),
  },
  run: async (store, values, _words, output) => {
    const { partner, customer, id = newId('GRANT'), 'expires-at': expires_at } = values;
    await requirePartner(store, partner);
    const now = toTime(Date.now());
    const grant: Grant = {
      id,
      partner_id: partner,
      customer_id: customer,
      action: 'CHECKING_BALANCE',
      status: 'ACTIVE',
      expires_at,
      created_at: now,
      updated_at: now,
    };
    await explainConflict(
      `Customer ${customer} already has a grant ${id}: choose another --id.`,
      store.createGrant(grant),
    );
    remarkPastExpiry(output, 'grant', expires_at);
    const what = `partner ${partner} may read the balances of customer ${customer}`;
    return { value: grant, text: `Created grant ${id}: ${what}.` };
  },
});

export const listGrants = onDatabase({
  options: {
    partner: required('ID', partnerId, 'partner whose grants to list'),
    customer: optional('ID', customerId, 'only grants for this customer'),
  },
  run: async (store, { partner, customer }) => {
    await requirePartner(store, partner);
    const whose = customer === undefined ? '' : ` for customer ${customer}`;
    return listReport(
      await store.listGrants(partner, customer),
      `Partner ${partner} has no grants${whose}.`,
      {
        ID: ({ id }) => id,
        CUSTOMER: ({ customer_id }) => customer_id,
        STATUS: statusOf,
        EXPIRES: ({ expires_at = '-' }) => expires_at,
        CREATED: ({ created_at }) => created_at,
      },
    );
  },
});

/** The current status. A grant that was revoked or used up keeps that status after its expiry. */
function statusOf({ status, expires_at }: Grant): Grant['status'] {
  return status === 'ACTIVE' && isPast(expires_at) ? 'EXPIRED' : status;
}

export const revokeGrant = onDatabase({
  ifFailed: 'Assume that the grant still works until this command succeeds.',
  arguments: [{ name: 'GRANT_ID', help: 'id of the grant' }],
  options: {
    customer: optional(
      'ID',
      customerId,
      'customer of the grant, if several customers have a grant with this id',
    ),
  },
  run: async (store, { customer }, [id = '']) => {
    const found = await store.findGrants(id);
    const [grant, another] = found.filter(
      ({ customer_id }) => customer === undefined || customer_id === customer,
    );
    const remedy = '"partner-network grants list --partner ID" lists the grants of a partner.';
    if (grant === undefined) return missing(`grant ${id}`, remedy);
    if (another !== undefined) {
      throw new OperatorError(`Several customers have a grant ${id}: name the customer with --customer.`);
    }
    const updated_at = toTime(Date.now());
    const isRevoked = grant.status === 'REVOKED';
    if (!isRevoked) await store.revokeGrant(grant.customer_id, id, updated_at);
    return {
      value: isRevoked ? grant : { ...grant, status: 'REVOKED', updated_at },
      text: `Grant ${id} is revoked. This takes effect on every instance within a second.`,
    };
  },
});
