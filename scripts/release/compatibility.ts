/**
 * Finds changes of an OpenAPI document that can break a correct client of an earlier one. Keywords without a
 * rule must stay equal. We wrote it because the tools on npm miss breaks: api-smart-diff 1.0.6 accepts a
 * removed response field and a response field of another type, and openapi-diff 0.24.1 reads only 3.0.
 */
import { isDeepStrictEqual } from 'node:util';

type Part = Readonly<Record<string, unknown>>;

/** Whether the client sends what a schema describes, or receives it. */
type Direction = 'sent' | 'received';

const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const partOf = (value: unknown): Part => (isPart(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

interface Break {
  /** What broke, in a sentence. */
  readonly text: string;
  /** Whether the operation was beta in the earlier document, which allows the change. */
  readonly isOfBeta: boolean;
}

type Report = (place: string, fault: string) => void;
type Compare = (place: string, old: Part, next: Part, report: Report) => void;

/** The breaks of all operations, and of what they share. */
export function breaksBetween(oldDocument: Part, nextDocument: Part): Break[] {
  const breaks: Break[] = [];
  const reportAs =
    (isOfBeta: boolean): Report =>
    (place, fault) =>
      void breaks.push({ text: `${place} ${fault}.`, isOfBeta });
  const old = partOf(resolved(oldDocument, oldDocument));
  const next = partOf(resolved(nextDocument, nextDocument));
  compareShared(old, next, reportAs(false));
  const before = operationsOf(old);
  const after = operationsOf(next);
  eachEntry(before, after, String, reportAs(false), (place, operation, later) =>
    compareOperations(place, operation, later, reportAs(operation['x-stability'] === 'beta')),
  );
  return breaks;
}

/** A copy with the content of every reference in its place. The document has no circles. */
function resolved(document: Part, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => resolved(document, item));
  if (!isPart(value)) return value;
  if (typeof value.$ref === 'string') {
    const names = value.$ref.slice('#/'.length).split('/');
    const target = names.reduce<unknown>((part, name) => partOf(part)[name], document);
    return resolved(document, target);
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, resolved(document, part)]));
}

/** All operations of a document, by method and path. Each has the parameters of its path, too. */
function operationsOf({ paths }: Part): Part {
  const entries = Object.entries(partOf(paths)).flatMap(([path, item]) => {
    const { parameters, ...methods } = partOf(item);
    return Object.entries(methods).map(([method, operation]) => {
      const all = [...listOf(parameters), ...listOf(partOf(operation).parameters)];
      return [`${method.toUpperCase()} ${path}`, { ...partOf(operation), parameters: all }];
    });
  });
  return Object.fromEntries(entries);
}

/** Reports the entries that are gone, and compares the others. */
function eachEntry(
  old: unknown,
  next: unknown,
  placeOf: (name: string) => string,
  report: Report,
  compare: Compare,
): void {
  for (const [name, entry] of Object.entries(partOf(old))) {
    const later = partOf(next)[name];
    if (later === undefined) report(placeOf(name), 'was removed');
    else compare(placeOf(name), partOf(entry), partOf(later), report);
  }
}

/** Texts and examples for people. A client does not depend on them. */
const annotations = [
  'title',
  'summary',
  'description',
  'example',
  'examples',
  'deprecated',
  'x-codeSamples',
  'x-scopes',
];

/** Reports every difference in parts that no other rule compares. */
function compareRest(
  place: string,
  old: Part,
  next: Part,
  compared: readonly string[],
  report: Report,
): void {
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
    const isCompared = compared.includes(name) || annotations.includes(name);
    if (!isCompared && !isDeepStrictEqual(plain(old[name]), plain(next[name]))) {
      report(place, `has another "${name}"`);
    }
  }
}

/** A copy without annotations. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isPart(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !annotations.includes(name));
  return Object.fromEntries(kept.map(([name, part]) => [name, plain(part)]));
}

function compareShared(old: Part, next: Part, report: Report): void {
  compareRest('The document', old, next, ['info', 'servers', 'tags', 'paths', 'components'], report);
  const basePaths = ({ servers }: Part) =>
    new Set(listOf(servers).map((server) => new URL(String(partOf(server).url)).pathname));
  for (const path of basePaths(old).difference(basePaths(next))) {
    report(`The base path ${path}`, 'was removed');
  }
  const parts = partOf(old.components);
  const later = partOf(next.components);
  // Components of other kinds are compared where operations use them.
  compareRest('The document', parts, later, ['schemas', 'parameters', 'headers', 'responses'], report);
  // A schema that lists values, such as the error codes, may get more of them.
  for (const [name, schema] of Object.entries(partOf(parts.schemas))) {
    const values = listOf(partOf(partOf(later.schemas)[name]).enum);
    for (const value of listOf(partOf(schema).enum)) {
      if (!values.includes(value)) report(`The schema ${name}`, `no longer has ${value}`);
    }
  }
}

const compareOperations: Compare = (place, old, next, report) => {
  compareRest(place, old, next, ['parameters', 'responses', 'x-stability', 'x-rate-limit'], report);
  const isStable = (operation: Part) => operation['x-stability'] === 'stable';
  if (isStable(old) && !isStable(next)) report(place, 'is no longer stable');
  compareRates(place, partOf(old['x-rate-limit']), partOf(next['x-rate-limit']), report);
  compareParameters(place, parametersOf(old), parametersOf(next), report);
  const placeOf = (status: string) => `${place}: the response ${status}`;
  eachEntry(old.responses, next.responses, placeOf, report, compareResponses);
  for (const status of Object.keys(partOf(next.responses))) {
    const isNew = partOf(old.responses)[status] === undefined;
    if (isNew && !/^[45]/.test(status)) report(placeOf(status), 'is new');
  }
};

/** A limit may be raised or removed. */
const compareRates: Compare = (place, old, next, report) => {
  if (next.requests === undefined) return;
  if (Number(next.requests) < Number(old.requests ?? Infinity)) report(place, 'has a lower rate limit');
  else compareRest(`The rate limit of ${place}`, old, next, ['requests'], report);
};

const parametersOf = ({ parameters }: Part): Part =>
  Object.fromEntries(listOf(parameters).map((item) => [partOf(item).name, item]));

const compareParameters: Compare = (place, old, next, report) => {
  const placeOf = (name: string) => `${place}: the parameter ${name}`;
  for (const name of Object.keys(next)) {
    const isRequired = (parameters: Part) => partOf(parameters[name]).required === true;
    if (isRequired(next) && !isRequired(old)) report(placeOf(name), 'is now required');
  }
  eachEntry(old, next, placeOf, report, (parameter, before, after) => {
    compareRest(parameter, before, after, ['required', 'schema'], report);
    compareSchemas('sent', parameter, partOf(before.schema), partOf(after.schema), report);
  });
};

const compareResponses: Compare = (place, old, next, report) => {
  compareRest(place, old, next, ['headers', 'content'], report);
  const headerAt = (name: string) => `${place}: the header ${name}`;
  eachEntry(old.headers, next.headers, headerAt, report, compareReceived);
  eachEntry(old.content, next.content, (type) => `${place}: ${type}`, report, compareReceived);
};

const compareReceived: Compare = (place, old, next, report) => {
  compareRest(place, old, next, ['required', 'schema'], report);
  if (old.required === true && next.required !== true) report(place, 'is no longer always present');
  compareSchemas('received', place, partOf(old.schema), partOf(next.schema), report);
};

function compareSchemas(direction: Direction, place: string, old: Part, next: Part, report: Report): void {
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
    const before = old[name];
    const after = next[name];
    // What the client sends must still be accepted. What it receives must not be more than before.
    const isRight = direction === 'sent' ? isWithin(name, before, after) : isWithin(name, after, before);
    if (isRight === false) report(place, `has another "${name}": ${textOf(before)} is now ${textOf(after)}`);
    if (isRight === undefined) compareNested(direction, place, name, old, next, report);
  }
}

const textOf = (value: unknown) => JSON.stringify(value) ?? 'no rule';

/** Compares the parts of a schema that contain schemas. */
function compareNested(
  direction: Direction,
  place: string,
  name: string,
  old: Part,
  next: Part,
  report: Report,
): void {
  const compare: Compare = (...pair) => compareSchemas(direction, ...pair);
  const before = old[name];
  const after = next[name];
  if (name === 'properties') eachEntry(before, after, (field) => `${place}.${field}`, report, compare);
  else if (name === 'required') {
    const [shorter, longer] = direction === 'sent' ? [before, after] : [after, before];
    const fault = direction === 'sent' ? 'is now required' : 'is no longer always present';
    for (const field of listOf(longer)) {
      if (!listOf(shorter).includes(field)) report(`${place}.${field}`, fault);
    }
  } else if (/^(items|additionalProperties)$/.test(name) && isPart(before) && isPart(after)) {
    compare(`${place}${name === 'items' ? '[]' : '.*'}`, before, after, report);
  } else compareRest(place, { [name]: before }, { [name]: after }, [], report);
}

/** Whether the values that a keyword allows with `narrow` are allowed with `wide`. Absent allows all. */
type Rule = (narrow: unknown, wide: unknown) => boolean;

const isSubset: Rule = (narrow, wide) => {
  if (wide === undefined) return true;
  const allowed = [wide].flat();
  return narrow !== undefined && [narrow].flat().every((value) => allowed.includes(value));
};
const isAtMost: Rule = (narrow, wide) => Number(narrow ?? Infinity) <= Number(wide ?? Infinity);
const isAtLeast: Rule = (narrow, wide) => Number(narrow ?? -Infinity) >= Number(wide ?? -Infinity);
const isEqualOrFree: Rule = (narrow, wide) => wide === undefined || narrow === wide;

const ruleOf: Readonly<Record<string, Rule>> = {
  type: isSubset,
  enum: isSubset,
  const: isSubset,
  maximum: isAtMost,
  maxLength: isAtMost,
  maxItems: isAtMost,
  maxProperties: isAtMost,
  minimum: isAtLeast,
  minLength: isAtLeast,
  minItems: isAtLeast,
  minProperties: isAtLeast,
  pattern: isEqualOrFree,
  format: isEqualOrFree,
};

/** Undefined if the keyword has no rule. */
function isWithin(keyword: string, narrow: unknown, wide: unknown): boolean | undefined {
  return ruleOf[keyword]?.(narrow, wide);
}
