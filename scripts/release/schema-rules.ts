/** The rules of JSON Schema keywords: whether each value that one schema allows is allowed by another. */
export type Part = Readonly<Record<string, unknown>>;

/** Whether the client sends what a schema describes, or receives it. */
export type Direction = 'sent' | 'received';

export const isPart = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const partOf = (value: unknown): Part => (isPart(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

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
  ...{ type: isSubset, enum: isSubset, const: isSubset },
  ...{ maximum: isAtMost, maxLength: isAtMost, maxItems: isAtMost, maxProperties: isAtMost },
  ...{ minimum: isAtLeast, minLength: isAtLeast, minItems: isAtLeast, minProperties: isAtLeast },
  ...{ pattern: isEqualOrFree, format: isEqualOrFree },
};

/** Undefined if the keyword has no rule. */
export function isWithin(keyword: string, narrow: unknown, wide: unknown): boolean | undefined {
  return ruleOf[keyword]?.(narrow, wide);
}
