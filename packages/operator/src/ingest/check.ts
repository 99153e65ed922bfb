import { ingestBounds } from '@partner-network/common/bounds/operator';
import { brokenRule, isCleanText, isWebAddress } from '@partner-network/common/text';
import { normalizeTime } from '@partner-network/common/times';
import { lengths } from '@partner-network/contract/limits';
import { brandSchema, type FieldSchema, type RecordSchema, visible } from '@partner-network/contract/records';
import { InexactNumber } from './json.ts';
import { findPersonalData, findPersonalKey, findPersonalValue } from './personal-data.ts';
import { type ImportCode, type Rejection, rejection, timeRejection, unknownField } from './rejections.ts';

type Value = string | number | undefined;

/** Returns the value to store, or adds a rejection. */
type Rule = (value: unknown, field: string, rejections: Rejection[]) => Value;

/** Adds a rejection. A rejected field has no value to store. */
function reject(rejections: Rejection[], added: Rejection): undefined {
  rejections.push(added);
}

interface CheckOptions {
  /** Fields to search for personal data. It is reported separately, because it may be allowed. */
  readonly watched?: readonly string[] | undefined;
  /** Fields that may be there and are not read. */
  readonly ignored?: readonly string[];
}

/** Checks a record against its schema and reports all rejections. */
export function createChecker(schema: RecordSchema, { watched = [], ignored = [] }: CheckOptions = {}) {
  const rules = Object.entries(schema.properties).map(([field, property]) => ({
    field,
    rule: ruleOf(property),
    isRequired: schema.required.includes(field),
  }));
  const known = [...Object.keys(schema.properties), ...ignored];

  return (record: unknown) => {
    const fields: Record<string, Value> = {};
    const rejections: Rejection[] = [];
    const personal: Rejection[] = [];
    if (!isObject(record)) return { fields, rejections: [rejection('EXPECTED_OBJECT')], personal };
    for (const { field, rule, isRequired } of rules) {
      const value = record[field];
      if (value === undefined || (value === null && !isRequired)) {
        if (isRequired) rejections.push(rejection('MISSING_REQUIRED_FIELD', field));
      } else {
        fields[field] = rule(value, field, rejections);
      }
    }
    for (const field in record) {
      if (rejections.length >= ingestBounds.importRejectionsOfLine) break;
      if (!known.includes(field)) rejections.push(unknownField(field, known));
    }
    for (const field of watched) {
      if (fields[field] !== undefined) personal.push(...personalRejections(record[field], field));
    }
    return { fields, rejections, personal };
  };
}

function ruleOf(schema: FieldSchema): Rule {
  if ([schema.type].flat().includes('integer')) return integerRule(schema);
  if (schema.type === 'object') return stringMapRule(schema);
  if (schema.type === 'array') return listRule(schema);
  return stringRule(schema);
}

/** The patterns of texts, each with the code of a text that does not match. */
const patterns: readonly { readonly source: string; readonly code: ImportCode }[] = [
  { source: visible, code: 'VALUE_EMPTY' },
  { source: brandSchema.properties.color.pattern, code: 'INVALID_COLOR' },
];

function patternOf(source: string) {
  const known = patterns.find((pattern) => pattern.source === source);
  if (known === undefined) throw new Error(`The pattern ${source} has no code.`);
  return { regExp: new RegExp(source), code: known.code };
}

/** Reports the first rejection only: type, a rule for texts, then the format of the field. */
function stringRule(schema: FieldSchema): Rule {
  const { maxLength: max = 0, minLength: min = 1, enum: words } = schema;
  const pattern = schema.pattern === undefined ? undefined : patternOf(schema.pattern);
  const isTime = schema.format === 'date-time';

  function rejectionOf(text: string, field: string): Rejection | undefined {
    const code = brokenRule(text, schema);
    if (code !== undefined) {
      return rejection(code, field, { max: `${max} characters`, allowed: words?.join(' or ') ?? '' });
    }
    if (isTime) return timeRejection('format', field);
    if (pattern?.regExp.test(text) === false) return rejection(pattern.code, field);
    // The minimum length needs no check: every valid address has at least 8 characters.
    const isUrl = schema.format !== 'uri' || isWebAddress(text);
    return isUrl ? undefined : rejection('INVALID_URL', field, { min, max });
  }

  return (value, field, rejections) => {
    if (typeof value !== 'string') return reject(rejections, rejection('EXPECTED_STRING', field));
    // A valid time or enum value needs no other check.
    const stored = isTime ? normalizeTime(value) : words?.includes(value) ? value : undefined;
    if (stored !== undefined) return stored;
    const reason = rejectionOf(value, field);
    return reason === undefined ? value : reject(rejections, reason);
  };
}

function integerRule(schema: FieldSchema): Rule {
  const { minimum: min = Number.MIN_SAFE_INTEGER, maximum: max = Number.MAX_SAFE_INTEGER } = schema;
  return (value, field, rejections) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    // Plain digits that JavaScript would round are an integer out of range; 1.0, 1e3 and -0 are not integers.
    const isNumber = value instanceof InexactNumber || typeof value === 'number';
    const digits = isNumber ? String(value instanceof InexactNumber ? value.source : value) : '';
    if (!/^(0|-?[1-9][0-9]*)$/.test(digits)) return reject(rejections, rejection('EXPECTED_INTEGER', field));
    if (Number(digits) < min) return reject(rejections, rejection('VALUE_TOO_LOW', field, { min }));
    return reject(rejections, rejection('VALUE_TOO_HIGH', field, { max }));
  };
}

/** Stores a list of different words as one text, in order. */
function listRule({ items: { enum: words = [] } = { type: 'string' } }: FieldSchema): Rule {
  const allowed = `a list of ${words.join(' or ')}, each once`;
  return (value, field, rejections) => {
    if (isListOf(words, value)) return value.toSorted().join(' ');
    return reject(rejections, rejection('INVALID_ENUM_VALUE', field, { allowed }));
  };
}

/** Whether a value is a list of some of these words, each once. */
export function isListOf(words: readonly string[], value: unknown): value is string[] {
  const isList = Array.isArray(value) && value.length > 0 && new Set(value).size === value.length;
  return isList && value.every((word) => words.includes(word));
}

const mostBytes = `${lengths.metadataBytes} bytes of keys and values in UTF-8`;

/** Stores a map of strings as JSON with sorted keys, so that equal maps are equal text. */
function stringMapRule({ maxProperties: max = 0 }: FieldSchema): Rule {
  return (value, field, rejections) => {
    if (!isObject(value)) return reject(rejections, rejection('EXPECTED_OBJECT', field));
    const entries = Object.entries(value);
    if (entries.length > max) rejections.push(rejection('TOO_MANY_KEYS', field, { max }));
    const texts = entries.flat().filter((text) => typeof text === 'string');
    if (Buffer.byteLength(texts.join('')) > lengths.metadataBytes) {
      rejections.push(rejection('VALUE_TOO_LONG', field, { max: mostBytes }));
    }
    for (const [key, text] of entries) {
      if (rejections.length >= ingestBounds.importRejectionsOfLine) break;
      if (typeof text !== 'string') rejections.push(rejection('EXPECTED_STRING', `${field}.${key}`));
      else if (!isCleanText(key) || !isCleanText(text)) {
        rejections.push(rejection('INVALID_CHARACTER', `${field}.${key}`));
      }
    }
    const sorted = entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
    return JSON.stringify(Object.fromEntries(sorted));
  };
}

/** Apparent personal data in a text or a map of texts. A personal key is not repeated. */
function personalRejections(value: unknown, field: string): Rejection[] {
  const rejections: Rejection[] = [];
  function add(found: string | undefined, where: string, name: string): void {
    if (found === undefined || rejections.length >= ingestBounds.importRejectionsOfLine) return;
    rejections.push(rejection('PERSONAL_DATA', name, { what: `${where} that looks like ${found}` }));
  }
  if (typeof value === 'string') add(findPersonalData(value), 'a value', field);
  else if (isObject(value)) {
    for (const [key, text] of Object.entries(value)) {
      add(findPersonalKey(key), 'a key', field);
      if (typeof text === 'string') add(findPersonalValue(key, text), 'a value', `${field}.${key}`);
    }
  }
  return rejections;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof InexactNumber)
  );
}
