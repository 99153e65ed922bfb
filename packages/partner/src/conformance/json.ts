/** JSON in answers: its content, and whether it follows a schema. */
import type { Answer } from './send.ts';

/** The name of a value's type in JSON Schema. A number without a fraction is an integer. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeOf(value) === 'object';

/**
 * The same text for JSON with the same content. The text of a value is a part of the text around it. White
 * space, escapes such as `\/`, and the order of fields carry no meaning in JSON, so a comparison of bodies
 * would blame correct deployments and miss leaks.
 */
export const canonical = (json: unknown) =>
  JSON.stringify(json, (_, value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value,
  );

/** The content of a body. If it is not JSON, this is its text. */
export const contentOf = ({ json, text }: Answer) => (json === undefined ? text : canonical(json));

/** The part of JSON Schema that the contract uses. */
// biome-ignore lint/suspicious/noExplicitAny: keywords have rules of any type.
export type Schema = Readonly<Record<string, any>>;

const day = /\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?<!02-3.|(0[469]|11)-31)/;

const formats: Readonly<Record<string, RegExp>> = {
  'date-time': new RegExp(`^${day.source}T([01]\\d|2[0-3])(:[0-5]\\d){2}(\\.\\d+)?(Z|[+-]00:00)$`, 'i'),
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
};

/** Characters, items or fields. */
const sizeOf = (value: unknown) => (typeof value === 'string' ? [...value] : Object.keys(value ?? {})).length;
const isShort = (value: unknown, rule: number) => sizeOf(value) < rule;
const isLong = (value: unknown, rule: number) => sizeOf(value) > rule;

/** Whether a value breaks the rule of a keyword. The specification gives no bounds for numbers. */
const isBroken: Readonly<Record<string, (value: unknown, rule: never) => boolean>> = {
  enum: (value, rule: readonly unknown[]) => !rule.includes(value),
  format: (value, rule: string) => formats[rule]?.test(String(value)) === false,
  pattern: (value, rule: string) => !new RegExp(rule, 'u').test(String(value)),
  minLength: isShort,
  minItems: isShort,
  maxLength: isLong,
  maxProperties: isLong,
};

/**
 * The first thing that is wrong with a value, such as `brands[3].name must be of the type string`. It names
 * fields and rules, and no values: it stands in reports.
 */
export function violationIn(schema: Schema, value: unknown, where = ''): string | undefined {
  const must = (what: string) => `${where || 'the body'} must ${what}`;
  if (schema.type && typeOf(value) !== schema.type) return must(`be of the type ${schema.type}`);
  for (const [keyword, rule] of Object.entries(schema))
    if (isBroken[keyword]?.(value, rule as never)) return must(`have the ${keyword} ${rule}`);

  const { required = [], properties = {}, items = {}, additionalProperties: more = true } = schema;
  if (Array.isArray(value))
    return value.map((item, index) => violationIn(items, item, `${where}[${index}]`)).find(Boolean);
  if (!isObject(value)) return undefined;
  const at = (name: string) => (where === '' ? name : `${where}.${name}`);
  const absent = required.find((name: string) => !Object.hasOwn(value, name));
  if (absent !== undefined) return `${at(absent)} must be present`;
  const violations = Object.entries(value).map(([name, field], index) => {
    if (Object.hasOwn(properties, name)) return violationIn(properties[name], field, at(name));
    if (more === false) return must('have no fields other than those of its schema');
    // A name that the schema does not list may be data.
    return more === true ? undefined : violationIn(more, field, at(`<field ${index + 1}>`));
  });
  return violations.find(Boolean);
}
