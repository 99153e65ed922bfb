/** Every field of the records, on the walks with the default limit. */
import {
  balanceSchema,
  brandSchema,
  type FieldSchema,
  type RecordSchema,
} from '@partner-network/contract/records';
import type { Case, Probe } from '../case.ts';
import { faultsOf } from '../schema.ts';
import { cases, casesOfBoth, type Find, type Rows } from './rows.ts';
import { type Item, isObject, type Listing, needsOf, someRecords } from './walks.ts';

const schemas: Readonly<Record<Listing, RecordSchema>> = { brands: brandSchema, balances: balanceSchema };

/** Finds the first record with a fault. */
const eachRecord =
  (listing: Listing, faultIn: (record: Item, probe: Probe) => string | undefined | boolean): Find =>
  async (probe) => {
    for (const { answer, records } of (await someRecords(probe, listing)).pages) {
      for (const [index, record] of records.entries()) {
        const fault = faultIn(record, probe);
        if (fault) return [answer, `record ${index + 1} of the page${fault === true ? '' : `: ${fault}`}`];
      }
    }
    return undefined;
  };

/** The specification gives no bounds for integers, and does not say that an optional field is never null. */
function ofFields(listing: Listing): Rows {
  const { required, properties } = schemas[listing];
  const rows = Object.entries(properties).map(([field, { minimum: _, maximum: __, ...rest }]) => {
    const isRequired = required.includes(field);
    const schema = { required: isRequired ? [field] : [], properties: { [field]: rest as FieldSchema } };
    const find = eachRecord(listing, (r) => (isRequired || r[field] !== null) && faultsOf(schema, r)[0]);
    const title = `${field} of ${listing} has the type, length and form that the specification gives`;
    return [`record.${field}`, [title, find]] as const;
  });
  return Object.fromEntries(rows);
}

const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return isObject(value) ? Object.entries(value).flat().flatMap(textsOf) : [];
};
const isAscending = (list: readonly number[]) => list.every((place, i) => i === 0 || place > list[i - 1]!);
const exactTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Rules for whole records, with the known names in order. */
const rules: Readonly<Record<string, readonly [string, holds: (record: Item, names: string[]) => boolean]>> =
  {
    'no-null': ['A field without a value is absent, never null', (r) => !Object.values(r).includes(null)],
    'known-fields': [
      'Records have documented fields only',
      (r, names) => Object.keys(r).every((k) => names.includes(k)),
    ],
    'field-order': [
      'Fields come in the documented order',
      (r, names) => isAscending(names.filter((k) => k in r).map((k) => Object.keys(r).indexOf(k))),
    ],
    'exact-times': [
      'Times have milliseconds and Z',
      (r) => [r.created_at, r.updated_at].every((t) => typeof t !== 'string' || exactTime.test(t)),
    ],
    'update-after-creation': [
      'updated_at is not before created_at',
      (r) => !(Date.parse(String(r.updated_at)) < Date.parse(String(r.created_at))),
    ],
    'no-control-characters': [
      'Texts have no control characters',
      (r) => !/[\0-\x1f\x7f]/.test(textsOf(r).join('')),
    ],
  };

function ofRules(listing: Listing): Rows {
  const names = Object.keys(schemas[listing].properties);
  const rows = Object.entries(rules).map(([name, [title, holds]]) => {
    return [`record.${name}`, [title, eachRecord(listing, (r) => !holds(r, names))]] as const;
  });
  return Object.fromEntries(rows);
}

export const records: readonly Case[] = [
  ...casesOfBoth({ brands: '2.2', balances: '2.1' }, 'specification', ofFields),
  ...cases('4.1', 'specification', {
    'balances.record.own-customer': [
      'Every balance belongs to the customer in the request',
      eachRecord('balances', (r, { given }) => r.customer_id !== given.PARTNER_NETWORK_CUSTOMER_ID),
      needsOf('balances'),
    ],
  }),
  ...casesOfBoth('Records on the wire', 'decisions', ofRules),
  ...cases('Records on the wire', 'decisions', {
    'balances.record.exact-amount': [
      'Amounts are integers that JavaScript holds exactly',
      eachRecord('balances', ({ amount }) => !Number.isSafeInteger(amount)),
      needsOf('balances'),
    ],
    'brands.record.image-or-placeholder': [
      'Every brand has a profile_image_url, if only that of the placeholder',
      eachRecord('brands', ({ profile_image_url }) => profile_image_url === undefined),
    ],
  }),
];
