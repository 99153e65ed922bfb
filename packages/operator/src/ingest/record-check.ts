/** Checks lines of an import, and completes them to rows. */

import { ingestBounds } from '@partner-network/common/bounds/operator';
import { newId } from '@partner-network/common/ids';
import { isDots } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { adminRecords } from '@partner-network/contract/admin/records';
import { balanceSchema, brandSchema, type RecordSchema } from '@partner-network/contract/records';
import type { Accounts, ImportKind, ImportRow } from '@partner-network/store/port';
import { createChecker } from './check.ts';
import type { Reading } from './lines.ts';
import type { PersonalDataPolicy } from './personal-data.ts';
import {
  dotsRejection,
  immutableRejection,
  missingGrant,
  missingPartner,
  type RejectedLine,
  type Rejection,
  rejection,
  timeRejection,
} from './rejections.ts';

interface KindOfRecord {
  readonly schema: RecordSchema;
  /** The fields of a line that deletes. Grants are never deleted by a line. */
  readonly deletion?: RecordSchema;
  /** Prefix of ids that the service issues. */
  readonly idPrefix: string;
  /** Fields with free text, which must not contain personal data. */
  readonly freeTexts?: readonly string[];
}

/** Fields that the service issues if they are absent. */
const issued = ['id', 'created_at', 'updated_at'];

/** `revoked_at` and `revoked_by` come from the audit log. */
const { revoked_at: _at, revoked_by: _by, ...grantFields } = adminRecords.Grant.properties;
const { partner_id, customer_id, expires_at: time } = grantFields;

/** The schema of a line: with fields that the API does not have, and without requiring issued fields. */
function lineSchema({ properties, required }: RecordSchema, more: RecordSchema['properties']): RecordSchema {
  return {
    properties: { ...properties, ...more },
    required: required.filter((field) => !issued.includes(field)),
  };
}

export const kinds: Readonly<Record<ImportKind, KindOfRecord>> = {
  brands: {
    schema: lineSchema(brandSchema, { partner_id, deleted_at: time }),
    // The owner may be given for all lines.
    deletion: {
      required: ['id'],
      properties: { partner_id, id: brandSchema.properties.id, deleted_at: time },
    },
    idPrefix: 'BRAND',
    freeTexts: ['reference_id', 'metadata'],
  },
  balances: {
    schema: lineSchema(balanceSchema, { deleted_at: time }),
    deletion: {
      required: ['customer_id', 'id'],
      properties: { customer_id, id: balanceSchema.properties.id, deleted_at: time },
    },
    idPrefix: 'BAL',
  },
  grants: {
    // A line may leave out what has a default.
    schema: { required: ['partner_id', 'customer_id'], properties: grantFields },
    idPrefix: 'GRANT',
  },
};

/** How to check records of a file or a feed. */
export interface RecordOptions {
  readonly kind: ImportKind;
  /** The owner of all imported brands. Without it each line names its owner, as in other kinds. */
  readonly partnerId?: string | undefined;
  /** Whether each line must have its id and the time of the change, so that it can be sent again. */
  readonly isRepeatable?: boolean;
  /** What to do with apparent personal data; the default is to reject it. */
  readonly personalData?: PersonalDataPolicy;
  /** Called for each line that is accepted although it seems to contain personal data. */
  warn?(line: RejectedLine): void;
}

interface CheckedRecord {
  readonly line: number;
  readonly text: string | undefined;
  readonly row: ImportRow;
  readonly rejections: Rejection[];
}

type Fields = Record<string, string | number | undefined>;

/** Returns a function that turns readings into rows, each with all of its rejections. */
export function createRecordCheck(
  store: Pick<Accounts, 'findPartner'>,
  options: RecordOptions,
): (readings: readonly Reading[]) => Promise<readonly CheckedRecord[]> {
  const { kind, partnerId, personalData = 'reject', warn } = options;
  const { schema, deletion, idPrefix, freeTexts } = kinds[kind];
  const checkFields = createChecker(schema, { watched: personalData === 'allow' ? [] : freeTexts });
  const checkDeletion = deletion && createChecker(deletion, { ignored: Object.keys(schema.properties) });
  const partners = new Set<string>();

  async function isPartner(id: string): Promise<boolean> {
    if (partners.has(id)) return true;
    // Unknown ids are not cached: a file may invent any number of them.
    if ((await store.findPartner(id)) !== undefined) partners.add(id);
    return partners.has(id);
  }

  /** Fills in defaults and the fields that the service issues. */
  function complete(row: Fields, value: unknown, line: number, nowMs: number): ImportRow {
    if (kind === 'grants') row.action ??= 'CHECKING_BALANCE';
    if (kind === 'brands') row.partner_id = partnerId ?? row.partner_id;
    row.line = line;
    if (row.deleted_at !== undefined) return row;
    row.id ??= newId(idPrefix);
    row.is_timed = row.updated_at === undefined ? 0 : 1;
    row.created_at ??= row.updated_at ?? toTime(nowMs);
    if (row.updated_at === undefined) {
      const now = toTime(nowMs);
      row.updated_at = row.created_at > now ? row.created_at : now;
    }
    if (kind === 'grants' && (value as Record<string, unknown>).expires_at === null) row.expires_at = '';
    return row;
  }

  function checkOne(reading: Reading, nowMs: number, latest: string): CheckedRecord {
    const { line, text } = reading;
    if ('rejections' in reading) return { line, text, row: {}, rejections: [...reading.rejections] };
    const { value } = reading;
    const isDeletion = ((value as Record<string, unknown> | null)?.deleted_at ?? undefined) !== undefined;
    const check = isDeletion ? (checkDeletion ?? checkFields) : checkFields;
    const { fields, rejections, personal } = check(value);
    // Without a field, the whole line is rejected.
    if (rejections.some(({ field }) => field === undefined)) return { line, text, row: {}, rejections };
    addRejections(rejections, fields, latest, options);
    if (personalData === 'reject' && personal.length > 0) rejections.push(...personal);
    if (rejections.length > 0) return { line, text, row: fields, rejections };
    if (personal.length > 0) warn?.({ line, errors: personal });
    return { line, text, row: complete(fields, value, line, nowMs), rejections };
  }

  return async (readings) => {
    // Of these readings only: after a jump of the clock ahead and back, the next lines get the right time.
    const nowMs = Date.now();
    const latest = toTime(nowMs + ingestBounds.importClockAheadMs);
    const checked = readings.map((reading) => checkOne(reading, nowMs, latest));
    if (kind === 'balances' || (kind === 'brands' && partnerId !== undefined)) return checked;
    for (const { row, rejections } of checked) {
      if (row.partner_id !== undefined && !(await isPartner(String(row.partner_id)))) {
        rejections.push(rejection('UNKNOWN_PARTNER', 'partner_id'));
      }
    }
    return checked;
  };
}

/** Adds rejections of the times, the owner and the status, which depend on more than one field. */
function addRejections(
  rejections: Rejection[],
  fields: Fields,
  latest: string,
  { kind, partnerId, isRepeatable = false }: RecordOptions,
): void {
  const { created_at = '', updated_at = '', deleted_at = '', partner_id, id, status = 'ACTIVE' } = fields;
  const isSound = (name: string) => !rejections.some(({ field }) => field === name);
  if (created_at > latest) rejections.push(timeRejection('ahead', 'created_at'));
  if (updated_at > latest) rejections.push(timeRejection('ahead', 'updated_at'));
  else if (updated_at !== '' && updated_at < created_at)
    rejections.push(timeRejection('order', 'updated_at'));
  if (deleted_at > latest) rejections.push(timeRejection('ahead', 'deleted_at'));
  if (isRepeatable) {
    if (id === undefined && isSound('id')) rejections.push(rejection('MISSING_REQUIRED_FIELD', 'id'));
    if (updated_at === '' && deleted_at === '' && isSound('updated_at')) {
      rejections.push(rejection('MISSING_REQUIRED_FIELD', 'updated_at'));
    }
  } else if (kind === 'grants' && id === undefined && status !== 'ACTIVE' && isSound('id')) {
    rejections.push(missingGrant());
  }
  // A line that ends a stored grant, or deletes, must not fail because of its id.
  if (kind !== 'brands' && deleted_at === '' && status === 'ACTIVE') {
    for (const field of kind === 'grants' ? ['id', 'customer_id'] : ['customer_id'])
      if (isDots(fields[field])) rejections.push(dotsRejection(field));
  }
  if (kind !== 'brands') return;
  if (partnerId === undefined && partner_id === undefined) {
    const missing = isRepeatable ? rejection('MISSING_REQUIRED_FIELD', 'partner_id') : missingPartner();
    if (isSound('partner_id')) rejections.push(missing);
  } else if (partnerId !== undefined && ![undefined, partnerId].includes(partner_id as string)) {
    const why = '--partner names another partner. Without --partner, each line names its own';
    rejections.push(immutableRejection('partner_id', why));
  }
}
