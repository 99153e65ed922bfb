/** A second implementation of the import rules: Ajv on the schemas, and code where a schema is not enough. */
import { balanceSchema, brandSchema } from '@partner-network/contract/records';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isOtherNumber } from './json-model.ts';
import { hasControlCharacter } from './words.ts';

export type Kind = 'brands' | 'balances' | 'grants';

const time = { type: 'string', format: 'date-time' };
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });
/** Grants are not part of the API, so the contract has no schema for them. */
const grantProperties = {
  id: text(256),
  partner_id: text(128),
  customer_id: text(128),
  action: { type: 'string', enum: ['CHECKING_BALANCE'] },
  status: { type: 'string', enum: ['ACTIVE', 'CONSUMED', 'REVOKED', 'EXPIRED'] },
  expires_at: time,
  created_at: time,
  updated_at: time,
};

export const fieldsOf = {
  brands: { required: ['name', 'reference_id'], properties: brandSchema.properties },
  balances: { required: ['customer_id', 'type', 'currency', 'amount'], properties: balanceSchema.properties },
  grants: { required: ['partner_id', 'customer_id'], properties: grantProperties },
} as const;

const ajv = new Ajv2020({
  allErrors: true,
  formats: { 'date-time': isTimeInUtc, uri: isWebUrl },
});
const validators = Object.fromEntries(
  Object.entries(fieldsOf).map(([kind, { required, properties }]) => [
    kind,
    ajv.compile({ type: 'object', additionalProperties: false, required, properties }),
  ]),
) as Record<Kind, ValidateFunction>;

/** The fields with faults; undefined if the value is not a record. */
export function wrongFieldsOf(kind: Kind, value: unknown): ReadonlySet<string> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isOtherNumber(value))
    return undefined;
  const { required, properties } = fieldsOf[kind];
  const isRequired = (name: string) => (required as readonly string[]).includes(name);
  // Null means absent in an optional field. Unknown fields are not optional.
  const given = Object.entries(value).filter(
    ([name, own]) => own !== null || isRequired(name) || !Object.hasOwn(properties, name),
  );
  const wrong = new Set<string>();
  for (const [name, own] of given) if (!isSound(own)) wrong.add(name);
  const validate = validators[kind];
  validate(Object.fromEntries(given));
  for (const { instancePath, params } of validate.errors ?? []) {
    const [, first] = instancePath.split('/');
    wrong.add(first ?? params.missingProperty ?? params.additionalProperty);
  }
  const sound = Object.fromEntries(given.filter(([name]) => !wrong.has(name)));
  const { created_at, updated_at, metadata, id, status = 'ACTIVE' } = sound;
  // A grant with a final status must say which grant it is.
  if (kind === 'grants' && status !== 'ACTIVE' && id === undefined) wrong.add('id');
  // No address can name these ids. A line that ends a grant is taken all the same.
  if (kind !== 'brands' && status === 'ACTIVE') {
    for (const name of kind === 'grants' ? ['id', 'customer_id'] : ['customer_id'])
      if (['.', '..'].includes(String(sound[name]))) wrong.add(name);
  }
  const [created, updated] = [created_at, updated_at].map(millisecondsOf);
  const latest = Date.now() + 300_000;
  if (created! > latest) wrong.add('created_at');
  if (updated! > latest || updated! < created!) wrong.add('updated_at');
  if (
    Buffer.byteLength(
      Object.entries(metadata ?? {})
        .flat()
        .join(''),
    ) > 32_768
  )
    wrong.add('metadata');
  return wrong;
}

/** NaN for an absent time, which is neither before nor after another. */
function millisecondsOf(time: unknown): number {
  return Date.parse(
    String(time)
      .toUpperCase()
      .replace(/(\.\d{1,3})\d*/, '$1'),
  );
}

/** Strings and keys without control characters and lone surrogates; numbers in plain digits. */
function isSound(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !hasControlCharacter(value);
  if (typeof value !== 'object' || value === null) return true;
  return !isOtherNumber(value) && Object.entries(value).every((entry) => entry.every(isSound));
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isTimeInUtc(text: string): boolean {
  const parts = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|\+00:00)$/.exec(text);
  if (parts === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && isLeap ? 29 : (daysOfMonth[month - 1] ?? 0);
  return year > 0 && day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60;
}

function isWebUrl(text: string): boolean {
  if (/\s/.test(text) || !/^https?:\/\/[^/?#]/i.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '' && url.hostname !== '';
}
