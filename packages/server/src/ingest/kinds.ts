/** The kinds of records that can be imported. */
import { lengths } from '@partner-network/contract/limits';
import { balanceSchema, brandSchema, type RecordSchema } from '@partner-network/contract/records';
import { grantStatuses, type ImportKind, type ImportRow } from '../store/port.ts';

interface KindOfRecord {
  readonly schema: RecordSchema;
  /** Prefix of ids that the service issues. */
  readonly idPrefix: string;
  /** Fields with free text, which must not contain personal data. */
  readonly freeTexts?: readonly string[];
  /** Values of absent fields. */
  readonly defaults?: ImportRow;
}

/** Fields that the service issues if they are absent. */
const issued = ['id', 'created_at', 'updated_at'];

function withoutIssued({ properties, required }: RecordSchema): RecordSchema {
  return { properties, required: required.filter((field) => !issued.includes(field)) };
}

/** A grant is not part of the API, so the contract has no schema for it. */
const grantSchema: RecordSchema = {
  required: ['partner_id', 'customer_id'],
  properties: {
    id: { type: 'string', maxLength: lengths.grantId },
    partner_id: { type: 'string', maxLength: lengths.partnerId },
    customer_id: { type: 'string', maxLength: lengths.customerId },
    action: { type: 'string', enum: ['CHECKING_BALANCE'] },
    status: { type: 'string', enum: grantStatuses },
    expires_at: { type: 'string', format: 'date-time' },
    created_at: { type: 'string', format: 'date-time' },
    updated_at: { type: 'string', format: 'date-time' },
  },
};

export const kinds: Readonly<Record<ImportKind, KindOfRecord>> = {
  brands: {
    schema: withoutIssued(brandSchema),
    idPrefix: 'BRAND',
    freeTexts: ['reference_id', 'metadata'],
  },
  balances: { schema: withoutIssued(balanceSchema), idPrefix: 'BAL' },
  grants: {
    schema: grantSchema,
    idPrefix: 'GRANT',
    defaults: { action: 'CHECKING_BALANCE', status: 'ACTIVE' },
  },
};
