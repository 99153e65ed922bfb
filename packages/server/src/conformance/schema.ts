/** Checks values by the part of JSON Schema that the contract and the OpenAPI document use. */
import { createContext, Script } from 'node:vm';

// biome-ignore lint/suspicious/noExplicitAny: a schema may come from a deployment's document.
export type Schema = Readonly<Record<string, any>>;

interface Options {
  /** The document that a `$ref` such as `#/components/schemas/Brand` points into. */
  readonly document?: unknown;
  /** Accept fields that the schema does not list, even if it forbids them. */
  readonly allowsMore?: boolean;
}

const mostFaults = 20;
const mostDepth = 64;

/**
 * What is wrong with a value, such as `brands[3].name must be a string`, at most 20 sentences. The sentences
 * name fields and rules, and no values: they stand in reports.
 */
export function faultsOf(schema: Schema, value: unknown, options: Options = {}): string[] {
  return check(schema, value, '', 0, options).take(mostFaults).toArray();
}

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
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
};

/** The size of a value that has one; NaN, which no bound excludes, for any other. */
const characters = (value: unknown) => (typeof value === 'string' ? [...value].length : Number.NaN);
const items = (value: unknown) => (Array.isArray(value) ? value.length : Number.NaN);
const fields = (value: unknown) => (types.object!(value) ? Object.keys(value as object).length : Number.NaN);
const amount = (value: unknown) => (typeof value === 'number' ? value : Number.NaN);

type Keyword = readonly [must: string, isBroken: (value: unknown, rule: never) => boolean];

const keywords: Readonly<Record<string, Keyword>> = {
  enum: ['be one of {}', (value, rule: readonly unknown[]) => !rule.includes(value)],
  const: ['be {}', (value, rule: unknown) => rule !== value],
  format: [
    'be a {}',
    (value, rule: string) => typeof value === 'string' && formats[rule]?.test(value) === false,
  ],
  pattern: ['match {}', (value, rule: string) => typeof value === 'string' && !matches(rule, value)],
  minLength: ['have at least {} characters', (value, rule: number) => characters(value) < rule],
  maxLength: ['have at most {} characters', (value, rule: number) => characters(value) > rule],
  minimum: ['be at least {}', (value, rule: number) => amount(value) < rule],
  maximum: ['be at most {}', (value, rule: number) => amount(value) > rule],
  minItems: ['have at least {} items', (value, rule: number) => items(value) < rule],
  maxItems: ['have at most {} items', (value, rule: number) => items(value) > rule],
  maxProperties: ['have at most {} fields', (value, rule: number) => fields(value) > rule],
};

function* check(
  schema: Schema,
  value: unknown,
  where: string,
  depth: number,
  options: Options,
): Generator<string, void> {
  const must = (what: string) => `${where || 'the body'} must ${what}`;
  // A deployment's own document may refer to itself without end.
  if (schema === undefined || depth > mostDepth) {
    yield must('have a schema that can be checked');
    return;
  }
  if (schema.$ref !== undefined) {
    yield* check(resolve(schema.$ref, options.document), value, where, depth + 1, options);
    return;
  }
  const allowed: readonly string[] = [schema.type ?? []].flat();
  if (allowed.length > 0 && !allowed.some((type) => types[type]?.(value) ?? typeof value === type)) {
    yield must(`be of the type ${allowed.join(' or ')}`);
    return;
  }
  for (const [keyword, [what, isBroken]] of Object.entries(keywords)) {
    const rule = schema[keyword];
    if (rule !== undefined && isBroken(value, rule as never))
      yield must(what.replace('{}', () => String(rule)));
  }
  if (Array.isArray(value) && schema.items !== undefined)
    for (const [index, item] of value.entries())
      yield* check(schema.items, item, `${where}[${index}]`, depth + 1, options);
  if (types.object!(value)) yield* checkFields(schema, value as Schema, where, depth, options);
}

function* checkFields(schema: Schema, value: Schema, where: string, depth: number, options: Options) {
  const { required = [], properties = {}, additionalProperties: more = true } = schema;
  const at = (name: string) => (where === '' ? name : `${where}.${name}`);
  for (const name of required) if (!Object.hasOwn(value, name)) yield `${at(name)} must be present`;
  for (const [index, [name, field]] of Object.entries(value).entries()) {
    if (Object.hasOwn(properties, name)) yield* check(properties[name], field, at(name), depth + 1, options);
    // A name that the schema does not list may be data.
    else if (typeof more === 'object')
      yield* check(more, field, at(`<field ${index + 1}>`), depth + 1, options);
    else if (!more && !options.allowsMore)
      yield `${where || 'the body'} must have no fields other than those of its schema`;
  }
}

function resolve(reference: string, document: unknown): Schema {
  const names = reference.replace(/^#\//, '').split('/');
  return names.reduce(
    (place, name) => (place && Object.hasOwn(place, name) ? place[name] : undefined),
    document as Schema,
  );
}

const context = createContext({ pattern: '', text: '' });
const matching = new Script('new RegExp(pattern, "u").test(text)');
const unusable = new Set<string>();
/** The same records come on many pages, and every run of the script starts a thread. */
const matched = new Set<string>();

/**
 * A deployment's own document may contain a pattern that takes years to match. It is tried once. On a busy
 * machine, 100 ms passed before a simple pattern had its turn.
 */
function matches(pattern: string, text: string): boolean {
  const pair = `${pattern} ${text}`;
  if (unusable.has(pattern) || matched.has(pair)) return matched.has(pair);
  try {
    const isMatch = matching.runInContext(Object.assign(context, { pattern, text }), { timeout: 1_000 });
    if (isMatch) matched.add(pair);
    return isMatch;
  } catch {
    unusable.add(pattern);
    return false;
  }
}
