/** Every field of the records, on the walks with the default limit. */
import { balanceSchema, brandSchema, type RecordSchema } from '@partner-network/contract/records';
import { Failure } from '../case.ts';
import type { Probe } from '../probe.ts';
import { type Schema, violationIn } from '../schema.ts';
import { type Find, table } from './table.ts';
import { type Item, type Listing, someRecords } from './walks.ts';

const schemas: Readonly<Record<Listing, RecordSchema>> = { brands: brandSchema, balances: balanceSchema };
const namesOf = (listing: Listing) => Object.keys(schemas[listing].properties);

/** Finds the first record with a violation. */
const eachRecord =
  (listing: Listing, find: (record: Item, probe: Probe) => string | undefined | boolean): Find =>
  async (probe) => {
    for (const { answer, records } of (await someRecords(probe, listing)).pages) {
      for (const [index, record] of records.entries()) {
        const violation = find(record, probe);
        const what = violation === true ? '' : `: ${violation}`;
        const expected = `record ${index + 1} to keep the promise${what}`;
        if (violation) return new Failure(expected, { cause: answer });
      }
    }
    return undefined;
  };

/** The specification gives no bounds for integers, and does not say that an optional field is never null. */
function field(listing: Listing, name = ''): Find {
  const { required, properties } = schemas[listing];
  const { minimum: _, maximum: __, ...schema } = properties[name]!;
  const isRequired = required.includes(name);
  const ofRecord: Schema = { required: isRequired ? [name] : [], properties: { [name]: schema } };
  return eachRecord(
    listing,
    (record) => (isRequired || record[name] !== null) && violationIn(ofRecord, record),
  );
}

const exactTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Violations by whole records. */
const violations: Readonly<
  Record<string, (record: Item, names: readonly string[], probe: Probe) => boolean>
> = {
  otherCustomer: ({ customer_id }, _, { given }) => customer_id !== given.PARTNER_NETWORK_CUSTOMER_ID,
  null: (record) => Object.values(record).includes(null),
  otherFields: (record, names) =>
    Object.keys(record).join() !== names.filter((name) => name in record).join(),
  otherTime: (r) =>
    [r.created_at, r.updated_at].some((time) => typeof time === 'string' && !exactTime.test(time)),
  updatedBefore: (r) => Date.parse(String(r.updated_at)) < Date.parse(String(r.created_at)),
  control: (record) =>
    /[\0-\x1f\x7f]/.test([record, record.metadata].flatMap((one) => Object.values(one ?? {})).join()),
  inexact: ({ amount }) => !Number.isSafeInteger(amount),
  noImage: ({ profile_image_url }) => profile_image_url === undefined,
};

const ofFields = (listing: Listing) =>
  namesOf(listing)
    .map(
      (name) => `${listing}.record.${name}: ${name} has its type, length and form | field ${listing} ${name}`,
    )
    .join('\n');

export const records = table(
  `
# 2.2 specification
${ofFields('brands')}
# 2.1 specification
${ofFields('balances')}
# 4.1 specification
balances.record.own-customer: Every balance is the customer's own | none balances otherCustomer
# Records on the wire decisions
*.record.no-null: A field without a value is absent, never null | none * null
*.record.field-order: Records have documented fields only, in the documented order | none * otherFields
*.record.exact-times: Times have milliseconds and Z | none * otherTime
*.record.update-after-creation: updated_at is not before created_at | none * updatedBefore
*.record.no-control-characters: Texts have no control characters | none * control
balances.record.exact-amount: Amounts are integers that JavaScript holds exactly | none balances inexact
brands.record.image-or-placeholder: Every brand has an image, if only the placeholder | none brands noImage
`,
  {
    field,
    none: (listing, violation = '') =>
      eachRecord(listing, (record, probe) => violations[violation]!(record, namesOf(listing), probe)),
  },
);
