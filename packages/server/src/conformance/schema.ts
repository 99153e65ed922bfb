/** Checks values by the part of JSON Schema that the contract and the OpenAPI document use. */

// biome-ignore lint/suspicious/noExplicitAny: a schema may come from a deployment's document.
export type Schema = Readonly<Record<string, any>>;

interface Options {
  /**
   * The deployment's document, which a `$ref` such as `#/components/schemas/Brand` points into. Its patterns
   * are not tried: one could take years to match.
   */
  readonly document?: unknown;
  /** Accept fields that the schema does not list, even if it forbids them. */
  readonly allowsMore?: boolean;
}

const mostDepth = 64;

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  integer: Number.isInteger,
  null: (value) => value === null,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

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

/**
 * The first thing that is wrong with a value, such as `brands[3].name must be of the type string`. It names
 * fields and rules, and no values: it stands in reports.
 */
export function faultIn(
  schema: Schema | undefined,
  value: unknown,
  options: Options = {},
  where = '',
  depth = 0,
): string | undefined {
  const must = (what: string) => `${where || 'the body'} must ${what}`;
  // A document may refer to itself without end.
  if (schema === undefined || depth > mostDepth) return must('have a schema that can be checked');
  const inside = (part: Schema, item: unknown, place: string) =>
    faultIn(part, item, options, place, depth + 1);
  if (schema.$ref !== undefined) return inside(partOf(options.document, schema.$ref), value, where);

  const allowed: readonly string[] = [schema.type ?? []].flat();
  if (allowed.length > 0 && !allowed.some((type) => types[type]?.(value) ?? typeof value === type))
    return must(`be of the type ${allowed.join(' or ')}`);
  for (const [keyword, rule] of Object.entries(schema)) {
    const isTried = keyword !== 'pattern' || options.document === undefined;
    if (isTried && isBroken[keyword]?.(value, rule as never)) return must(`have the ${keyword} ${rule}`);
  }
  if (Array.isArray(value) && schema.items !== undefined)
    return firstOf(value, (item, index) => inside(schema.items, item, `${where}[${index}]`));
  if (!types.object!(value)) return undefined;

  const { required = [], properties = {}, additionalProperties: more = true } = schema;
  const at = (name: string) => (where === '' ? name : `${where}.${name}`);
  const absent = required.find((name: string) => !Object.hasOwn(value as object, name));
  if (absent !== undefined) return `${at(absent)} must be present`;
  return firstOf(Object.entries(value as object), ([name, field], index) => {
    if (Object.hasOwn(properties, name)) return inside(properties[name], field, at(name));
    // A name that the schema does not list may be data.
    if (typeof more === 'object') return inside(more, field, at(`<field ${index + 1}>`));
    return more || options.allowsMore ? undefined : must('have no fields other than those of its schema');
  });
}

function firstOf<Item>(list: readonly Item[], find: (item: Item, index: number) => string | undefined) {
  for (const [index, item] of list.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The part of a document that a reference points to. */
export function partOf(document: unknown, reference: string): Schema {
  const [, ...names] = reference.split('/');
  return names.reduce(
    (place, name) => (place && Object.hasOwn(place, name) ? place[name] : undefined),
    document as Schema,
  );
}
