/** The kinds of records that can be imported. */
import { lengths } from '@partner-network/contract/limits';
import { balanceSchema, brandSchema, type RecordSchema } from '@partner-network/contract/records';
import { grantStatuses, type ImportKind, type ImportRow } from '@partner-network/store/port';

interface KindOfRecord {
  readonly schema: RecordSchema;
  /** The fields of a line that deletes. Grants are never deleted by a line. */
  readonly deletion?: RecordSchema;
  /** Prefix of ids that the service issues. */
  readonly idPrefix: string;
  /** Fields with free text, which must not contain personal data. */
  readonly freeTexts?: readonly string[];
  /** Values of absent fields. */
  readonly defaults?: ImportRow;
}

/** Fields that the service issues if they are absent. */
const issued = ['id', 'created_at', 'updated_at'];

const time = { type: 'string', format: 'date-time' } as const;
const partnerId = { type: 'string', maxLength: lengths.partnerId } as const;

/** The schema of a line: with fields that the API does not have, and without requiring issued fields. */
function lineSchema({ properties, required }: RecordSchema, more: RecordSchema['properties']): RecordSchema {
  return {
    properties: { ...properties, ...more },
    required: required.filter((field) => !issued.includes(field)),
  };
}

/** The schema of a line that deletes. */
function deletionSchema({ properties }: RecordSchema, owner: 'partner_id' | 'customer_id'): RecordSchema {
  return {
    // The owner of brands may be given for all lines.
    required: owner === 'customer_id' ? [owner, 'id'] : ['id'],
    properties: { [owner]: properties[owner]!, id: properties.id!, deleted_at: time },
  };
}

const brandLine = lineSchema(brandSchema, { partner_id: partnerId, deleted_at: time });
const balanceLine = lineSchema(balanceSchema, { deleted_at: time });

/** A grant is not part of the API, so the contract has no schema for it. */
const grantSchema: RecordSchema = {
  required: ['partner_id', 'customer_id'],
  properties: {
    id: { type: 'string', maxLength: lengths.grantId },
    partner_id: partnerId,
    customer_id: { type: 'string', maxLength: lengths.customerId },
    action: { type: 'string', enum: ['CHECKING_BALANCE'] },
    status: { type: 'string', enum: grantStatuses },
    expires_at: time,
    created_at: time,
    updated_at: time,
  },
};

export const kinds: Readonly<Record<ImportKind, KindOfRecord>> = {
  brands: {
    schema: brandLine,
    deletion: deletionSchema(brandLine, 'partner_id'),
    idPrefix: 'BRAND',
    freeTexts: ['reference_id', 'metadata'],
  },
  balances: {
    schema: balanceLine,
    deletion: deletionSchema(balanceLine, 'customer_id'),
    idPrefix: 'BAL',
  },
  grants: {
    schema: grantSchema,
    idPrefix: 'GRANT',
    defaults: { action: 'CHECKING_BALANCE' },
  },
};
