/** Checks values by the part of JSON Schema that the contract uses. */

// biome-ignore lint/suspicious/noExplicitAny: keywords have rules of any type.
export type Schema = Readonly<Record<string, any>>;

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

const day = /\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?<!02-3.|(0[469]|11)-31)/;

const formats: Readonly<Record<string, RegExp>> = {
  'date-time': new RegExp(`^${day.source}T([01]\\d|2[0-3])(:[0-5]\\d){2}(\\.\\d+)?(Z|[+-]00:00)$`, 'i'),
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
};

/** Characters, items, fields, or the number itself. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return [...value].length;
  return typeof value === 'object' ? Object.keys(value ?? {}).length : Number(value);
}

const isShort = (value: unknown, rule: number) => sizeOf(value) < rule;
const isLong = (value: unknown, rule: number) => sizeOf(value) > rule;

/** Whether a value breaks the rule of a keyword. */
const isBroken: Readonly<Record<string, (value: unknown, rule: never) => boolean>> = {
  enum: (value, rule: readonly unknown[]) => !rule.includes(value),
  format: (value, rule: string) => formats[rule]?.test(String(value)) === false,
  pattern: (value, rule: string) => !new RegExp(rule, 'u').test(String(value)),
  ...{ minLength: isShort, minItems: isShort, minimum: isShort },
  ...{ maxLength: isLong, maxItems: isLong, maximum: isLong, maxProperties: isLong },
};

function isOfType(value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

/**
 * The first thing that is wrong with a value, such as `brands[3].name must be of the type string`. It names
 * fields and rules, and no values: it stands in reports.
 */
export function violationIn(schema: Schema, value: unknown, where = ''): string | undefined {
  const must = (what: string) => `${where || 'the body'} must ${what}`;
  if (schema.type && !isOfType(value, schema.type)) return must(`be of the type ${schema.type}`);
  for (const [keyword, rule] of Object.entries(schema))
    if (isBroken[keyword]?.(value, rule as never)) return must(`have the ${keyword} ${rule}`);
  if (Array.isArray(value))
    return firstOf(value, (item, index) => violationIn(schema.items ?? {}, item, `${where}[${index}]`));
  if (!isObject(value)) return undefined;

  const { required = [], properties = {}, additionalProperties: more = true } = schema;
  const at = (name: string) => (where === '' ? name : `${where}.${name}`);
  const absent = required.find((name: string) => !Object.hasOwn(value as object, name));
  if (absent !== undefined) return `${at(absent)} must be present`;
  return firstOf(Object.entries(value as object), ([name, field], index) => {
    if (Object.hasOwn(properties, name)) return violationIn(properties[name], field, at(name));
    // A name that the schema does not list may be data.
    if (typeof more === 'object') return violationIn(more, field, at(`<field ${index + 1}>`));
    return more ? undefined : must('have no fields other than those of its schema');
  });
}

function firstOf<Item>(list: readonly Item[], find: (item: Item, index: number) => string | undefined) {
  for (const [index, item] of list.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
