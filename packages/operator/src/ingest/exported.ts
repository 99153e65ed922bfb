/** Checks what "partners export" and "export erasures" print: partners with their keys, and erasures. */
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { ingestBounds } from '@partner-network/common/bounds/operator';
import { isDots } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { adminRecords, ownRates, partnerName } from '@partner-network/contract/admin/records';
import { type Environment, environments } from '@partner-network/contract/environments';
import { lengths } from '@partner-network/contract/limits';
import { scopes } from '@partner-network/contract/permissions';
import type { ErasedCustomer, PartnerWithKeys } from '@partner-network/store/port';
import { createChecker, isListOf } from './check.ts';
import { dotsRejection, type Rejection, rejection, timeRejection } from './rejections.ts';

const time = { type: 'string', format: 'date-time' };

const checkPartner = createChecker({
  required: ['environment', ...adminRecords.Partner.required],
  properties: {
    environment: { type: 'string', enum: environments },
    ...adminRecords.Partner.properties,
    name: partnerName,
  },
});

const checkLimits = createChecker({ required: [], properties: ownRates('integer') });

const checkKey = createChecker({
  required: ['id', 'digest', 'last_four', 'created_at'],
  properties: {
    id: { type: 'string', maxLength: lengths.keyId },
    name: { type: 'string', maxLength: lengths.partnerName },
    digest: { type: 'string' },
    last_four: { type: 'string' },
    created_at: time,
    created_by: { type: 'string', maxLength: commandLineBounds.actorCharacters },
    expires_at: time,
    revoked_at: time,
  },
});

/** Turns the value of a line into a partner, or lists all of its rejections. */
export function readPartner(
  value: unknown,
  environment: Environment,
): { record: PartnerWithKeys; rejections: Rejection[] } {
  const { keys = [], limits = {}, ...rest } = Object(value) as { keys?: unknown; limits?: unknown };
  const { fields, rejections } = checkPartner(typeof value === 'object' ? rest : value);
  // A key belongs to one environment forever.
  const { environment: stamped, ...partner } = fields;
  const { fields: own, rejections: ofLimits } = checkLimits(limits);
  rejections.push(...inside('limits', ofLimits));
  if (isDots(fields.id)) rejections.push(dotsRejection('id'));
  if (stamped !== undefined && stamped !== environment) {
    rejections.push(rejection('INVALID_ENUM_VALUE', 'environment', { allowed: environment }));
  }
  if (!Array.isArray(keys))
    return { record: {} as PartnerWithKeys, rejections: [keysRejection, ...rejections] };
  const read = keys.map(readKey);
  for (const [index, key] of read.entries()) rejections.push(...inside(`keys.${index}`, key.rejections));
  return {
    record: { ...partner, limits: own, keys: read.map(({ key }) => key) } as unknown as PartnerWithKeys,
    rejections,
  };
}

/** Rejections of what is in a field, with its name before theirs. */
function inside(name: string, rejections: readonly Rejection[]): Rejection[] {
  return rejections.map(({ field, ...rejection }) => ({
    ...rejection,
    field: field === undefined ? name : `${name}.${field}`,
  }));
}

const keysRejection = rejection('INVALID_ENUM_VALUE', 'keys', { allowed: 'a list of keys' });

function readKey(value: unknown): { key: object; rejections: Rejection[] } {
  const { scopes: keyScopes, ...rest } = Object(value) as { scopes?: unknown };
  const { fields, rejections } = checkKey(typeof value === 'object' ? rest : value);
  if (isDots(fields.id)) rejections.push(dotsRejection('id'));
  const expect = (holds: boolean, field: string, allowed: string) => {
    if (!holds) rejections.push(rejection('INVALID_ENUM_VALUE', field, { allowed }));
  };
  expect(isListOf(scopes, keyScopes), 'scopes', `a list of ${scopes.join(' or ')}`);
  expect(/^[0-9a-f]{64}$/.test(String(fields.digest)), 'digest', '64 hex digits in lower case');
  expect(/^[0-9A-Za-z]{4}$/.test(String(fields.last_four)), 'last_four', 'the last 4 characters of the key');
  return { key: { ...fields, scopes: keyScopes }, rejections };
}

const checkErasure = createChecker({
  required: ['customer_id', 'erased_at'],
  properties: {
    customer_id: { type: 'string', maxLength: lengths.customerId },
    erased_at: time,
  },
});

/** Turns the value of a line into an erasure, or lists all of its rejections. */
export function readErasure(value: unknown): { record: ErasedCustomer; rejections: Rejection[] } {
  const { fields, rejections } = checkErasure(value);
  const record = fields as unknown as ErasedCustomer;
  // A typo of 2099 would keep every record of the customer away.
  const latest = toTime(Date.now() + ingestBounds.importClockAheadMs);
  if (record.erased_at > latest) rejections.push(timeRejection('ahead', 'erased_at'));
  return { record, rejections };
}
