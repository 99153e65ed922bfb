/** Checks values by the part of JSON Schema that the contract and OpenAPI documents use. */
import { createContext, Script } from 'node:vm';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Options {
  /** The document that a `$ref` such as `#/components/schemas/Brand` points into. */
  readonly document?: unknown;
  /** Accept fields that the schema does not list, even if it forbids them. */
  readonly allowsMore?: boolean;
}

const mostFaults = 20;
const mostDepth = 64;
/** A page of 100 brands with 50 metadata fields takes 6,000 steps. */
const mostSteps = 1_000_000;

/** Where a check is. A deployment's own document may refer to itself without end. */
interface Place extends Options {
  readonly where: string;
  readonly depth: number;
  readonly steps: { left: number };
}

/**
 * What is wrong with a value, such as `brands[3].name must be a string`, at most 20 sentences. The sentences
 * name fields and rules, and no values: they stand in reports.
 */
export function faultsOf(schema: Schema, value: unknown, options: Options = {}): string[] {
  const place = { ...options, where: '', depth: 0, steps: { left: mostSteps } };
  return check(schema, value, place).take(mostFaults).toArray();
}

type Faults = Generator<string, void>;

function must({ where }: Place, what: string): string {
  return `${where || 'the body'} must ${what}`;
}

function within(place: Place, where: string): Place {
  return { ...place, where, depth: place.depth + 1 };
}

function* check(schema: Schema, value: unknown, place: Place): Faults {
  place.steps.left -= 1;
  if (place.depth > mostDepth || place.steps.left < 0) {
    yield must(place, 'have a schema that can be checked in a reasonable time');
    return;
  }
  if (schema.$ref !== undefined) {
    const target = resolve(schema.$ref, place.document);
    if (target === undefined) yield must(place, 'have a schema that the document contains');
    else yield* check(target, value, within(place, place.where));
    return;
  }
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) {
    yield must(place, `be ${types.map(named).join(' or ')}`);
    return;
  }
  if (schema.enum !== undefined && !schema.enum.includes(value))
    yield must(place, `be one of ${schema.enum.join(', ')}`);
  if (schema.const !== undefined && schema.const !== value) yield must(place, `be ${schema.const}`);
  if (typeof value === 'string') yield* checkText(schema, value, place);
  if (typeof value === 'number') {
    if (value < (schema.minimum ?? value)) yield must(place, `be at least ${schema.minimum}`);
    if (value > (schema.maximum ?? value)) yield must(place, `be at most ${schema.maximum}`);
  }
  if (Array.isArray(value)) yield* checkList(schema, value, place);
  else if (typeof value === 'object' && value !== null)
    yield* checkFields(schema, value as Readonly<Record<string, unknown>>, place);
  for (const part of schema.allOf ?? []) yield* check(part, value, within(place, place.where));
  for (const choices of [schema.anyOf, schema.oneOf]) {
    const fits = (choice: Schema) => check(choice, value, within(place, place.where)).next().done;
    if (choices !== undefined && !choices.some(fits)) yield must(place, 'fit one of several schemas');
  }
}

function* checkText(schema: Schema, text: string, place: Place): Faults {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format = '' } = schema;
  const length = [...text].length;
  if (length < minLength) yield must(place, `have at least ${minLength} characters`);
  if (length > maxLength) yield must(place, `have at most ${maxLength} characters`);
  if (pattern !== undefined && !matches(pattern, text)) yield must(place, `match ${pattern}`);
  const [isValid, meaning] = formats[format] ?? [() => true];
  if (!isValid(text)) yield must(place, `be ${meaning}`);
}

function* checkList(schema: Schema, list: readonly unknown[], place: Place): Faults {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  if (list.length < minItems) yield must(place, `have at least ${minItems} items`);
  if (list.length > maxItems) yield must(place, `have at most ${maxItems} items`);
  if (items === undefined) return;
  for (const [index, item] of list.entries())
    yield* check(items, item, within(place, `${place.where}[${index}]`));
}

function* checkFields(schema: Schema, fields: Readonly<Record<string, unknown>>, place: Place): Faults {
  const { required = [], properties = {}, additionalProperties: more = true } = schema;
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const names = Object.keys(fields);
  const at = (name: string) => within(place, place.where === '' ? name : `${place.where}.${name}`);
  if (names.length < minProperties) yield must(place, `have at least ${minProperties} fields`);
  if (names.length > maxProperties) yield must(place, `have at most ${maxProperties} fields`);
  for (const name of required) if (!Object.hasOwn(fields, name)) yield must(at(name), 'be present');
  for (const [index, name] of names.entries()) {
    if (Object.hasOwn(properties, name)) yield* check(properties[name]!, fields[name], at(name));
    // A name that the schema does not list may be data.
    else if (typeof more === 'object') yield* check(more, fields[name], at(`<field ${index + 1}>`));
    else if (!more && place.allowsMore !== true)
      yield must(place, 'have no fields other than those of its schema');
  }
}

function resolve(reference: string, document: unknown): Schema | undefined {
  const names = reference.replace(/^#\//, '').split('/');
  const found = names.reduce<unknown>(
    (place, name) =>
      typeof place === 'object' && place !== null && Object.hasOwn(place, name)
        ? (place as Readonly<Record<string, unknown>>)[name]
        : undefined,
    document,
  );
  return typeof found === 'object' && found !== null ? found : undefined;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function named(type: string): string {
  return type === 'null' ? 'null' : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

const day = /\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?<!02-3.|(0[469]|11)-31)/;
const utcTime = new RegExp(`^${day.source}T([01]\\d|2[0-3])(:[0-5]\\d){2}(\\.\\d+)?(Z|[+-]00:00)$`, 'i');

/** Formats that are checked, with their names in sentences. */
const formats: Readonly<Record<string, readonly [(text: string) => boolean, string?]>> = {
  'date-time': [(text) => utcTime.test(text), 'a time in UTC by RFC 3339'],
  uri: [(text) => URL.canParse(text), 'a URL'],
  uuid: [(text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text), 'a UUID'],
};

const context = createContext({ pattern: '', text: '' });
const matching = new Script('new RegExp(pattern, "u").test(text)');

/** A deployment's own document may contain a pattern that takes years to match. */
function matches(pattern: string, text: string): boolean {
  try {
    return matching.runInContext(Object.assign(context, { pattern, text }), { timeout: 100 }) === true;
  } catch {
    return false;
  }
}
