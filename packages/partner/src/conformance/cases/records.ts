/** Every field of the records, on the walks with the default limit. */
import type { ListingName } from '@partner-network/contract/operations';
import { balanceSchema, brandSchema, type RecordSchema } from '@partner-network/contract/records';
import { type Check, type Definitions, ofBoth, section, under } from '../case.ts';
import { violationIn } from '../json.ts';
import { ownCustomer, type Probe } from '../probe.ts';
import { Failure } from '../send.ts';
import { type Item, someRecords } from './walks.ts';

const schemas: Readonly<Record<ListingName, RecordSchema>> = { brands: brandSchema, balances: balanceSchema };

/** Checks each record with a function that returns true, or false, or what is wrong with the record. */
const everyRecord =
  (listing: ListingName, isKept: (record: Item, probe: Probe) => boolean | string): Check =>
  async (probe) => {
    for (const { answer, records } of (await someRecords(probe, listing)).pages) {
      for (const [index, record] of records.entries()) {
        const kept = isKept(record, probe);
        const expected = `record ${index + 1} to keep the promise${kept === false ? '' : `: ${kept}`}`;
        if (kept !== true) throw new Failure(expected, { cause: answer });
      }
    }
    return undefined;
  };

/** The specification does not say that an optional field is never null. */
function fieldsOf(listing: ListingName): Definitions {
  const { required, properties } = schemas[listing];
  const definitions = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    const ofRecord = { required: isRequired ? [name] : [], properties: { [name]: schema } };
    const check = everyRecord(
      listing,
      (record) => (!isRequired && record[name] === null) || (violationIn(ofRecord, record) ?? true),
    );
    return [name, { promise: `${name} has its type, length and form`, check }];
  });
  return under(`${listing}.record`, Object.fromEntries(definitions));
}

const exactTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const isExact = (time: unknown) => typeof time !== 'string' || exactTime.test(time);
const isBefore = (one: unknown, other: unknown) => Date.parse(String(one)) < Date.parse(String(other));
const textsOf = (record: Item) => [record, record.metadata].flatMap((one) => Object.values(one ?? {})).join();

const documented = (listing: ListingName, record: Item) =>
  Object.keys(schemas[listing].properties)
    .filter((name) => name in record)
    .join();

// biome-ignore format: a case has two lines, its promise and how it is checked.
export const records = [
  section('2.2', fieldsOf('brands')),
  section('2.1', fieldsOf('balances')),
  section('4.1', {
    'balances.record.own-customer': { promise: "Every balance is the customer's own",
      check: everyRecord('balances', ({ customer_id }, probe) => customer_id === ownCustomer(probe)) },
  }),
  section('Records on the wire', {
    ...ofBoth((listing) => ({
      'record.no-null': { promise: 'A field without a value is absent, never null',
        check: everyRecord(listing, (record) => !Object.values(record).includes(null)) },
      'record.field-order': { promise: 'Records have documented fields only, in the documented order',
        check: everyRecord(listing, (record) => Object.keys(record).join() === documented(listing, record)) },
      'record.exact-times': { promise: 'Times have milliseconds and Z',
        check: everyRecord(listing, (record) => isExact(record.created_at) && isExact(record.updated_at)) },
      'record.update-after-creation': { promise: 'updated_at is not before created_at',
        check: everyRecord(listing, ({ created_at, updated_at }) => !isBefore(updated_at, created_at)) },
      'record.no-control-characters': { promise: 'Texts have no control characters',
        check: everyRecord(listing, (record) => !/[\0-\x1f\x7f]/.test(textsOf(record))) },
    })),
    'balances.record.exact-amount': { promise: 'Amounts are integers that JavaScript holds exactly',
      check: everyRecord('balances', ({ amount }) => Number.isSafeInteger(amount)) },
    'brands.record.image-or-placeholder': { promise: 'Every brand has an image, if only the placeholder',
      check: everyRecord('brands', ({ profile_image_url }) => profile_image_url !== undefined) },
  }),
].flat();
