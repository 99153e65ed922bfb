import type { FieldSchema, RecordSchema } from '@partner-network/contract/records';
import { bounds } from '../bounds.ts';
import { isCleanText, isLongerThan, isWebAddress } from '../text.ts';
import { normalizeTime } from '../times.ts';
import { type ImportFault, importFault, unknownField } from './faults.ts';
import { InexactNumber } from './json.ts';
import { findPersonalData, findPersonalKey, findPersonalValue } from './personal-data.ts';

type Value = string | number | undefined;

interface Checked {
  readonly fields: Readonly<Record<string, Value>>;
  readonly faults: ImportFault[];
  /** What looks like personal data, apart, because it may be allowed. */
  readonly personal: ImportFault[];
}

/** A rule turns a field's value into what is stored, or adds to the faults. */
type Rule = (value: unknown, field: string, faults: ImportFault[]) => Value;

/**
 * Checks a record against its schema, field by field, and reports all that is wrong with it at once. The
 * watched fields are looked through for personal data.
 */
export function createChecker(
  schema: RecordSchema,
  watched: readonly string[] = [],
): (record: unknown) => Checked {
  const required = new Set(schema.required);
  const rules = Object.entries(schema.properties).map(
    ([field, property]) => [field, ruleOf(property)] as const,
  );
  const names = Object.keys(schema.properties);
  const known = new Set(names);

  return (record) => {
    if (!isObject(record)) return { fields: {}, faults: [importFault('EXPECTED_OBJECT')], personal: [] };
    const fields: Record<string, Value> = {};
    const faults: ImportFault[] = [];
    for (const [field, rule] of rules) {
      const value = Object.hasOwn(record, field) ? record[field] : undefined;
      if (value === undefined || (value === null && !required.has(field))) {
        if (required.has(field)) faults.push(importFault('MISSING_REQUIRED_FIELD', field));
      } else {
        fields[field] = rule(value, field, faults);
      }
    }
    for (const field of Object.keys(record)) {
      if (faults.length >= bounds.importFaultsOfLine) break;
      if (!known.has(field)) faults.push(unknownField(field, names));
    }
    const sound = watched.filter((field) => fields[field] !== undefined);
    return { fields, faults, personal: sound.flatMap((field) => personalFaults(record[field], field)) };
  };
}

function ruleOf(schema: FieldSchema): Rule {
  if (schema.type === 'integer') return integerRule(schema);
  if (schema.type === 'object') return stringMapRule(schema);
  return stringRule(schema);
}

/** Of several faults the first counts: kind, character, empty, then its own rule. */
function stringRule(schema: FieldSchema): Rule {
  const own = ownRuleOf(schema);
  return (value, field, faults) => {
    if (typeof value !== 'string') faults.push(importFault('EXPECTED_STRING', field));
    else if (!isCleanText(value)) faults.push(importFault('INVALID_CHARACTER', field));
    else if (value === '') faults.push(importFault('VALUE_EMPTY', field));
    else return own(value, field, faults);
    return undefined;
  };
}

/** What a schema says beyond being a string: a value to store, or the one fault that it has. */
function ownRuleOf(schema: FieldSchema): (text: string, field: string, faults: ImportFault[]) => Value {
  const { maxLength: max = Number.POSITIVE_INFINITY, minLength: min = 1 } = schema;
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern);
  const allowed = schema.enum?.join(' or ') ?? '';

  function faultOf(text: string, field: string): ImportFault | undefined {
    if (isLongerThan(text, max)) return importFault('VALUE_TOO_LONG', field, { max });
    if (schema.enum?.includes(text) === false) return importFault('INVALID_ENUM_VALUE', field, { allowed });
    if (pattern?.test(text) === false) return importFault('INVALID_COLOR', field);
    // The shortest address, "http://" and a letter, is as long as it must be.
    if (schema.format === 'uri' && !isWebAddress(text))
      return importFault('INVALID_URL', field, { min, max });
    return undefined;
  }

  return (text, field, faults) => {
    const stored = schema.format === 'date-time' ? normalizeTime(text) : text;
    const fault = stored === undefined ? importFault('INVALID_TIME', field) : faultOf(text, field);
    if (fault === undefined) return stored;
    faults.push(fault);
    return undefined;
  };
}

function integerRule(schema: FieldSchema): Rule {
  const { minimum: min = Number.MIN_SAFE_INTEGER, maximum: max = Number.MAX_SAFE_INTEGER } = schema;
  return (value, field, faults) => {
    if (typeof value === 'number' && value >= min && value <= max) return value;
    // Plain digits that JavaScript would round are an integer, only out of range; 1.0, 1e3 and -0 are not
    // plain.
    const digits =
      value instanceof InexactNumber ? value.source : typeof value === 'number' ? String(value) : '';
    if (!/^-?[1-9][0-9]*$/.test(digits)) faults.push(importFault('EXPECTED_INTEGER', field));
    else if (digits.startsWith('-')) faults.push(importFault('VALUE_TOO_LOW', field, { min }));
    else faults.push(importFault('VALUE_TOO_HIGH', field, { max }));
    return undefined;
  };
}

/** A map of strings becomes JSON text with sorted keys, so that equal maps are equal text. */
function stringMapRule({ maxProperties: max = 0 }: FieldSchema): Rule {
  return (value, field, faults) => {
    if (!isObject(value)) {
      faults.push(importFault('EXPECTED_OBJECT', field));
      return undefined;
    }
    const entries = Object.entries(value);
    if (entries.length > max) faults.push(importFault('TOO_MANY_KEYS', field, { max }));
    for (const [key, text] of entries) {
      if (faults.length >= bounds.importFaultsOfLine) break;
      if (typeof text !== 'string') faults.push(importFault('EXPECTED_STRING', `${field}.${key}`));
      else if (!isCleanText(key) || !isCleanText(text)) {
        faults.push(importFault('INVALID_CHARACTER', `${field}.${key}`));
      }
    }
    const sorted = entries.toSorted(([left], [right]) => (left < right ? -1 : 1));
    return JSON.stringify(Object.fromEntries(sorted));
  };
}

/** What looks like personal data in a text or a map of texts. A key that does is not named. */
function personalFaults(value: unknown, field: string): ImportFault[] {
  const faults: ImportFault[] = [];
  function add(found: string | undefined, where: string, name: string): void {
    if (found === undefined || faults.length >= bounds.importFaultsOfLine) return;
    faults.push(importFault('PERSONAL_DATA', name, { what: `${where} that looks like ${found}` }));
  }
  if (typeof value === 'string') add(findPersonalData(value), 'a value', field);
  else if (isObject(value)) {
    for (const [key, text] of Object.entries(value)) {
      add(findPersonalKey(key), 'a key', field);
      if (typeof text === 'string') add(findPersonalValue(key, text), 'a value', `${field}.${key}`);
    }
  }
  return faults;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof InexactNumber)
  );
}
