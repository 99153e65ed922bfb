/** The three kinds of records that can be imported. */
import { lengths } from '@partner-network/contract/limits';
import { balanceSchema, brandSchema, type RecordSchema } from '@partner-network/contract/records';
import { grantStatuses, type ImportKind, type ImportRow } from '../store/port.ts';

interface KindOfRecord {
  readonly schema: RecordSchema;
  /** How the ids that the service issues begin. */
  readonly idPrefix: string;
  /** Fields of the operator's own words, which must not be about people. */
  readonly freeTexts?: readonly string[];
  /** What a record says when it leaves it out. */
  readonly defaults?: ImportRow;
}

/** The service issues these where they are left out. */
const issued = ['id', 'created_at', 'updated_at'];

function withoutIssued({ properties, required }: RecordSchema): RecordSchema {
  return { properties, required: required.filter((field) => !issued.includes(field)) };
}

/** A grant is not on the wire; its fields are named here only. */
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
