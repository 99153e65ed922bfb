/** Every field of the records, on the walks with the default limit. */
import type { ListingName } from '@partner-network/contract/operations';
import { balanceSchema, brandSchema, type RecordSchema } from '@partner-network/contract/records';
import { type Case, Cases, type Check } from '../case.ts';
import { violationIn } from '../json.ts';
import { ownCustomer, type Probe } from '../probe.ts';
import { Failure } from '../send.ts';
import { type Item, someRecords } from './pages.ts';

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
function fieldsOf(listing: ListingName): readonly Case[] {
  const { required, properties } = schemas[listing];
  const cases = new Cases();
  for (const [name, schema] of Object.entries(properties)) {
    const isRequired = required.includes(name);
    const ofRecord = { required: isRequired ? [name] : [], properties: { [name]: schema } };
    const isKept = (record: Item) =>
      (!isRequired && record[name] === null) || (violationIn(ofRecord, record) ?? true);
    cases.promise(name, `${name} has its type, length and form`).holds(everyRecord(listing, isKept));
  }
  return cases.all;
}

const brands = new Cases('2.2').under('brands.record', ...fieldsOf('brands'));
const balances = new Cases('2.1').under('balances.record', ...fieldsOf('balances'));

const customer = new Cases('4.1')
  .promise('balances.record.own-customer', "Every balance is the customer's own")
  .holds(everyRecord('balances', ({ customer_id }, probe) => customer_id === ownCustomer(probe)));

const exactTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const isExact = (time: unknown) => typeof time !== 'string' || exactTime.test(time);
const isBefore = (one: unknown, other: unknown) => Date.parse(String(one)) < Date.parse(String(other));
const textsOf = (record: Item) => [record, record.metadata].flatMap((one) => Object.values(one ?? {})).join();

const onTheWire = new Cases('Records on the wire')
  .ofBoth((listing) => {
    const names = Object.keys(schemas[listing].properties);
    const documented = (record: Item) => names.filter((name) => name in record).join();
    return new Cases()
      .promise('record.no-null', 'A field without a value is absent, never null')
      .holds(everyRecord(listing, (record) => !Object.values(record).includes(null)))
      .promise('record.field-order', 'Records have documented fields only, in the documented order')
      .holds(everyRecord(listing, (record) => Object.keys(record).join() === documented(record)))
      .promise('record.exact-times', 'Times have milliseconds and Z')
      .holds(everyRecord(listing, (record) => isExact(record.created_at) && isExact(record.updated_at)))
      .promise('record.update-after-creation', 'updated_at is not before created_at')
      .holds(everyRecord(listing, ({ created_at, updated_at }) => !isBefore(updated_at, created_at)))
      .promise('record.no-control-characters', 'Texts have no control characters')
      .holds(everyRecord(listing, (record) => !/[\0-\x1f\x7f]/.test(textsOf(record))));
  })
  .promise('balances.record.exact-amount', 'Amounts are integers that JavaScript holds exactly')
  .holds(everyRecord('balances', ({ amount }) => Number.isSafeInteger(amount)))
  .promise('brands.record.image-or-placeholder', 'Every brand has an image, if only the placeholder')
  .holds(everyRecord('brands', ({ profile_image_url }) => profile_image_url !== undefined));

export const records = [brands, balances, customer, onTheWire];
