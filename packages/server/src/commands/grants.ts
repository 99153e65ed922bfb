import { lengths } from '@partner-network/contract/limits';
import { tell } from '../command-line/command.ts';
import { expiresAt, optional, plainText, required } from '../command-line/options.ts';
import { table } from '../command-line/table.ts';
import { newId } from '../lib/ids.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { toTime } from '../lib/times.ts';
import type { Grant } from '../store/port.ts';
import { explainConflict, onDatabase, requirePartner } from './database.ts';

export const createGrant = onDatabase({
  options: {
    partner: required('ID', plainText(lengths.partnerId), 'who may read'),
    customer: required('ID', plainText(lengths.customerId), 'whose balances'),
    id: optional('ID', plainText(lengths.grantId), "the grant's id; issued when left out"),
    'expires-at': expiresAt,
  },
  run: async (store, values, _words, output) => {
    await requirePartner(store, values.partner);
    const now = toTime(Date.now());
    const expires_at = values['expires-at'];
    const grant: Grant = {
      id: values.id ?? newId('GRANT'),
      partner_id: values.partner,
      customer_id: values.customer,
      action: 'CHECKING_BALANCE',
      status: 'ACTIVE',
      expires_at,
      created_at: now,
      updated_at: now,
    };
    await explainConflict(`Grant ${grant.id} of customer ${grant.customer_id}`, store.createGrant(grant));
    if (expires_at !== undefined && expires_at <= now) output.remark('Note: its expiry is in the past.');
    const what = `partner ${grant.partner_id} may read the balances of customer ${grant.customer_id}`;
    tell(output, values.json, grant, () => `Created grant ${grant.id}: ${what}.`);
  },
});

export const listGrants = onDatabase({
  options: {
    partner: required('ID', plainText(lengths.partnerId), 'whose grants'),
    customer: optional('ID', plainText(lengths.customerId), 'only those for this customer'),
  },
  run: async (store, values, _words, output) => {
    await requirePartner(store, values.partner);
    const grants = await store.listGrants(values.partner, values.customer);
    tell(output, values.json, grants, () =>
      grants.length === 0
        ? 'No grants.'
        : table([
            ['ID', 'CUSTOMER', 'STATUS', 'EXPIRES', 'CREATED'],
            ...grants.map((grant) => [
              grant.id,
              grant.customer_id,
              standingOf(grant),
              grant.expires_at ?? '-',
              grant.created_at,
            ]),
          ]),
    );
  },
});

/** What a grant comes to now; its stored status counts before its expiry. */
function standingOf({ status, expires_at }: Grant): Grant['status'] {
  const isOver = expires_at !== undefined && Date.parse(expires_at) <= Date.now();
  return status === 'ACTIVE' && isOver ? 'EXPIRED' : status;
}

export const revokeGrant = onDatabase({
  arguments: [{ name: 'GRANT_ID', help: 'the grant' }],
  options: {
    customer: optional(
      'ID',
      plainText(lengths.customerId),
      'whose grant, where several customers have this id',
    ),
  },
  run: async (store, values, [id = ''], output) => {
    const found = await store.findGrants(id);
    const [grant, another] = found.filter(
      ({ customer_id }) => values.customer === undefined || customer_id === values.customer,
    );
    if (grant === undefined)
      throw new OperatorError(
        `There is no grant ${id}: "partner-network grants list --partner ID" shows a partner's.`,
      );
    if (another !== undefined) {
      throw new OperatorError(`Several customers have a grant ${id}: say whose with --customer.`);
    }
    const updated_at = toTime(Date.now());
    if (grant.status !== 'REVOKED') await store.revokeGrant(grant.customer_id, id, updated_at);
    const revoked = grant.status === 'REVOKED' ? grant : { ...grant, status: 'REVOKED', updated_at };
    tell(
      output,
      values.json,
      revoked,
      () => `Grant ${id} is revoked; this takes effect everywhere within a second.`,
    );
  },
});
