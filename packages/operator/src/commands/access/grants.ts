import { counted } from '@partner-network/common/command-line/amounts';
import {
  expiresAt,
  flag,
  oneOf,
  optional,
  plainText,
  required,
} from '@partner-network/common/command-line/options';
import { newId } from '@partner-network/common/ids';
import { OperatorError } from '@partner-network/common/operator-error';
import { toTime } from '@partner-network/common/times';
import { lengths } from '@partner-network/contract/limits';
import { type Grant, grantStatuses, type Store } from '@partner-network/store/port';
import {
  changing,
  customerId,
  explainConflict,
  isPast,
  listReport,
  missing,
  onDatabase,
  partnerId,
  remarkPastExpiry,
  requirePartner,
  waitingFor,
} from '../database.ts';

export const createGrant = changing('grants create', {
  options: {
    partner: required('ID', partnerId, 'partner that may read the balances'),
    customer: required('ID', customerId, 'customer whose balances the partner may read'),
    id: optional('ID', plainText(lengths.grantId), 'id of the grant; without it, a new id'),
    'expires-at': expiresAt('the grant'),
  },
  run: async (store, values, _words, output, by) => {
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
      store.createGrant(grant, by),
    );
    remarkPastExpiry(output, 'grant', expires_at);
    const what = `partner ${partner} may read the balances of customer ${customer}`;
    return { value: grant, text: `Created grant ${id}: ${what}.` };
  },
});

export const listGrants = onDatabase({
  options: {
    partner: optional('ID', partnerId, 'only grants of this partner'),
    customer: optional('ID', customerId, 'only grants for this customer'),
    status: optional(
      'STATUS',
      oneOf(grantStatuses),
      `only grants with this status: ${grantStatuses.join(', ')}`,
    ),
  },
  conflicts: ({ partner, customer }) =>
    partner === undefined && customer === undefined ? ['Pass --partner, --customer or both.'] : [],
  run: async (store, { partner, customer, status }) => {
    if (partner !== undefined) await requirePartner(store, partner);
    const query = { partnerId: partner, customerId: customer, status, at: toTime(Date.now()) };
    const grants = await withRevocations(store, await store.listGrants(query));
    return listReport(grants, 'No grants found.', {
      ID: ({ id }) => id,
      ...(partner === undefined && { PARTNER: ({ partner_id }) => partner_id }),
      CUSTOMER: ({ customer_id }) => customer_id,
      STATUS: statusOf,
      EXPIRES: ({ expires_at = '-' }) => expires_at,
      CREATED: ({ created_at }) => created_at,
      REVOKED: ({ revoked_at = '-' }) => revoked_at,
      BY: ({ revoked_by = '-' }) => revoked_by,
    });
  },
});

type ListedGrant = Grant & { readonly revoked_at?: string; readonly revoked_by?: string };

/** Grants whose revocations are looked up by one statement. */
const lookedUp = 500;

/**
 * Adds the time and the actor of a revocation, from the audit log. A grant that an import revoked has the
 * time of its line, and no name: the entry of an import does not list its records.
 */
async function withRevocations(store: Store, grants: readonly Grant[]): Promise<ListedGrant[]> {
  const listed: ListedGrant[] = [];
  for (let start = 0; start < grants.length; start += lookedUp) {
    const some = grants.slice(start, start + lookedUp);
    const revoked = some.filter(({ status }) => status === 'REVOKED');
    const targets = new Set(revoked.flatMap(({ id, customer_id }) => [id, customer_id]));
    const entries = await store.auditOf('grants revoke', [...targets]);
    for (const grant of some) {
      const entry = entries.find(({ target, details }) =>
        target === grant.id
          ? details.customer_id === grant.customer_id
          : target === grant.customer_id &&
            Array.isArray(details.grants) &&
            details.grants.includes(grant.id),
      );
      const { at: revoked_at = grant.updated_at, actor: revoked_by } = entry ?? {};
      const isRevoked = grant.status === 'REVOKED';
      listed.push(isRevoked ? { ...grant, revoked_at, ...(revoked_by && { revoked_by }) } : grant);
    }
  }
  return listed;
}

/** The current status. A grant that was revoked or used up keeps that status after its expiry. */
function statusOf({ status, expires_at }: Grant): Grant['status'] {
  return status === 'ACTIVE' && isPast(expires_at) ? 'EXPIRED' : status;
}

const takesEffect = 'This takes effect on every instance within a second.';

export const revokeGrant = changing('grants revoke', {
  role: 'network_support',
  ifFailed: 'Assume that the grant still works until this command succeeds.',
  notYet: () => waitingFor('Nothing is revoked yet, and the grant still works'),
  arguments: [{ name: 'GRANT_ID', help: 'id of the grant; omit it with --all', isOptional: true }],
  options: {
    customer: optional(
      'ID',
      customerId,
      'customer of the grant; needed if several have a grant with this id',
    ),
    all: flag('revoke all grants of the customer'),
  },
  conflicts: ({ customer, all }, [id = '']) => {
    if (!all)
      return id === ''
        ? ['GRANT_ID is missing. To revoke all grants of a customer, pass --customer and --all.']
        : [];
    if (id !== '') return ['--all revokes all grants of a customer: omit GRANT_ID.'];
    return customer === undefined ? ['--all needs --customer.'] : [];
  },
  run: async (store, { customer, all }, [id = ''], _output, by) => {
    const at = toTime(Date.now());
    if (all) {
      const revoked = await store.revokeGrants(customer!, at, by);
      const grants = counted(revoked.length, 'grant');
      const text = revoked.length === 0 ? `Customer ${customer} has no active grants.` : `Revoked ${grants}.`;
      return { value: revoked, text: revoked.length === 0 ? text : `${text} ${takesEffect}` };
    }
    const { customer_id } = await requireGrant(store, id, customer);
    await store.revokeGrant(customer_id, id, at, by);
    const grant = await requireGrant(store, id, customer_id);
    const text =
      grant.status === 'REVOKED'
        ? `Grant ${id} is revoked. ${takesEffect}`
        : `Grant ${id} is ${grant.status}, which is final: it does not work, and nothing was changed.`;
    return { value: grant, text };
  },
});

async function requireGrant(store: Store, id: string, customer: string | undefined): Promise<Grant> {
  // With its customer, a grant is found while another node of the database is down.
  const found =
    customer === undefined
      ? await store.findGrants(id)
      : await store.listGrants({ customerId: customer, at: toTime(Date.now()) });
  const [grant, another] = found.filter((one) => one.id === id);
  if (another !== undefined) {
    throw new OperatorError(`Several customers have a grant ${id}: name the customer with --customer.`);
  }
  const remedy = '"partner-network grants list --partner ID" lists the grants of a partner.';
  return grant ?? missing(`grant ${id}`, remedy);
}
