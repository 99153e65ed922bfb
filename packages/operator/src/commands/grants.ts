import { confirm, yes } from '@partner-network/common/command-line/changes';
import { printList, shownFlags } from '@partner-network/common/command-line/lists';
import { flag, oneOf, optional, required } from '@partner-network/common/command-line/options';
import type { Columns } from '@partner-network/common/command-line/table';
import { ConclusiveError, OperatorError } from '@partner-network/common/errors';
import { newId } from '@partner-network/common/ids';
import { counted } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { lengths } from '@partner-network/contract/limits';
import { type Grant, grantStatuses, type Store } from '@partner-network/store/port';
import * as operations from '../operations/grants.ts';
import { requirePartner } from '../operations/partners.ts';
import {
  changing,
  customerId,
  endingFor,
  expiresAt,
  explainConflict,
  newIdOf,
  onDatabase,
  partnerId,
  takesEffect,
} from './database.ts';

export const createGrant = changing('grants create', {
  options: {
    partner: required('ID', partnerId, 'partner that may read the balances'),
    customer: required('ID', newIdOf(lengths.customerId), 'customer whose balances the partner may read'),
    id: optional('ID', newIdOf(lengths.grantId), 'id of the grant; without it, a new id'),
    'expires-at': expiresAt('the grant'),
  },
  run: async ({ store, values, output, by }) => {
    const { partner, customer, id = newId('GRANT'), 'expires-at': expiresAt, json } = values;
    const wanted = { id, partnerId: partner, customerId: customer, expiresAt };
    const ending = await endingFor(store, partner, output, json);
    const grant = await explainConflict(
      `Customer ${customer} already has a grant ${id}: choose another --id.`,
      operations.createGrant(store, wanted, by),
    );
    const what = `partner ${partner} may read the balances of customer ${customer}`;
    const next = `the partner lists them with "partner-network balances list --customer ${customer}".`;
    return { value: grant, text: `Created grant ${id}: ${what}.\n${ending(id, expiresAt, next)}` };
  },
});

const statuses = grantStatuses.join(', ');

export const listGrants = onDatabase({
  options: {
    partner: optional('ID', partnerId, 'only grants of this partner'),
    customer: optional('ID', customerId, 'only grants for this customer'),
    status: optional('STATUS', oneOf(grantStatuses), `only grants with this status: ${statuses}`),
    ...shownFlags('grants'),
  },
  conflicts: ({ partner, customer }) =>
    partner === undefined && customer === undefined ? ['Pass --partner, --customer or both.'] : [],
  run: async ({ store, values, output }) => {
    const { partner, customer, status } = values;
    if (partner !== undefined) await requirePartner(store, partner);
    const query = { partnerId: partner, customerId: customer, status, at: toTime(Date.now()) };
    const grants = await operations.listGrants(store, query);
    printList(grants, 'grants', columns, values, output);
  },
});

const columns: Columns<operations.ListedGrant> = [
  ['ID', ({ id }) => id, 'id'],
  ['STATUS', operations.grantStatus, 'state'],
  ['CUSTOMER', ({ customer_id }) => customer_id, 'id'],
  ['PARTNER', ({ partner_id }) => partner_id, 'id'],
  ['EXPIRES', ({ expires_at = '-' }) => expires_at, 'time'],
  ['CREATED', ({ created_at }) => created_at, 'time'],
  ['REVOKED', ({ revoked_at = '-' }) => revoked_at, 'time'],
  ['BY', ({ revoked_by = '-' }) => revoked_by],
];

export const revokeGrant = changing('grants revoke', {
  role: 'network_support',
  ifFailed: 'Assume that the grant still works until this command succeeds.',
  notYet: () => 'Nothing is revoked yet, and the grant still works',
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
    if (!all && id === '')
      return ['GRANT_ID is missing. To revoke all grants of a customer, pass --customer and --all.'];
    if (all && id !== '') return ['--all revokes all grants of a customer: omit GRANT_ID.'];
    return all && customer === undefined ? ['--all needs --customer.'] : [];
  },
  run: async ({ store, values: { customer, all }, words: [id = ''], by }) => {
    const nextFor = (customer: string) =>
      `\nNext: see who read the balances with "partner-network receipts list --customer ${customer}".`;
    if (all) {
      const revoked = await store.revokeGrants(customer!, toTime(Date.now()), by);
      if (revoked.length === 0) return { value: [], text: `Customer ${customer} has no active grants.` };
      const text = `Revoked ${counted(revoked.length, 'grant')}. ${takesEffect}${nextFor(customer!)}`;
      return { value: revoked, text };
    }
    const { customer_id } = await requireGrant(store, id, customer);
    const grant = await operations.revokeGrant(store, customer_id, id, by);
    const text =
      grant.status === 'REVOKED'
        ? `Grant ${id} is revoked. ${takesEffect}${nextFor(customer_id)}`
        : `Grant ${id} is ${grant.status}, which is final: it does not work, and nothing was changed.`;
    return { value: grant, text };
  },
});

async function requireGrant(store: Store, id: string, customer: string | undefined): Promise<Grant> {
  if (customer !== undefined) return operations.requireGrantOf(store, customer, id);
  const [grant, another] = await store.findGrants(id);
  if (another !== undefined) {
    throw new OperatorError(`Several customers have a grant ${id}: name the customer with --customer.`);
  }
  return grant ?? operations.refuseUnknownGrant(id);
}

export const eraseCustomer = changing('customers erase', {
  ifFailed: 'Assume that nothing was erased until this command succeeds.',
  notYet: () => 'Nothing is erased yet',
  arguments: [{ name: 'CUSTOMER_ID', help: 'id of the customer', read: customerId }],
  options: { yes },
  ask: ({ yes }, [id]) => confirm(`This deletes all balances and grants of customer ${id} for good.`, yes),
  run: async ({ store, words: [id = ''], by }) => {
    const erased = await store.eraseCustomer(id, by);
    if (erased === undefined) {
      const remedy = '"partner-network export erasures" prints the customers that were erased before.';
      throw new ConclusiveError(`There is no balance or grant of customer ${id}. Check the id. ${remedy}`);
    }
    const { balances, grants } = erased;
    return {
      value: { customer_id: id, balances, grants },
      text:
        `Erased customer ${id}: deleted ${counted(balances, 'balance')} and ${counted(grants, 'grant')}. ` +
        'Late updates do not bring them back, and lines without updated_at are rejected. ' +
        'Receipts stay until they are pruned.',
    };
  },
});
