/** The three kinds of records that can be imported: their fields, and the row that each becomes. */
import { lengths } from '@partner-network/contract/limits';
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { newId } from '../ids.ts';
import { grantStatuses, type ImportKind, type ImportRows } from '../store/port.ts';
import type { RecordSchema } from './check.ts';

interface KindOfRecord<Row> {
  readonly schema: RecordSchema;
  /** Fills in what the service issues. The fields have been checked. */
  toRow(fields: Partial<Row>, now: string, partnerId: string): Row;
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

export const kinds: { readonly [Kind in ImportKind]: KindOfRecord<ImportRows[Kind]> } = {
  brands: {
    schema: withoutIssued(brandSchema),
    toRow: (fields, now, partnerId) => ({
      ...withIssued('BRAND', fields, now),
      partner_id: partnerId,
    }),
  },
  balances: {
    schema: withoutIssued(balanceSchema),
    toRow: (fields, now) => withIssued('BAL', fields, now),
  },
  grants: {
    schema: grantSchema,
    toRow: (fields, now) => ({
      ...withIssued('GRANT', fields, now),
      action: fields.action ?? 'CHECKING_BALANCE',
      status: fields.status ?? 'ACTIVE',
    }),
  },
};

function withIssued<Row>(prefix: string, fields: Partial<Row>, now: string): Row {
  const { id, created_at, updated_at } = fields as Record<string, unknown>;
  return {
    ...fields,
    id: id ?? newId(prefix),
    created_at: created_at ?? now,
    updated_at: updated_at ?? now,
  } as Row;
}
