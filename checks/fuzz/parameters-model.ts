/**
 * A second, simple implementation of the documented parameter rules. Names and limits are literals, and
 * decoding is left to decodeURIComponent and URLSearchParams.
 */

import { hasControlCharacter } from './words.ts';

interface Rule {
  readonly isRequired?: boolean;
  readonly longest?: number;
  readonly only?: string;
  readonly isLimit?: boolean;
}

export const rulesOf: Readonly<Record<'brands' | 'balances', Readonly<Record<string, Rule>>>> = {
  brands: { cursor: { longest: 1_024 }, limit: { isLimit: true }, reference_id: { longest: 1_024 } },
  balances: {
    customer_id: { isRequired: true, longest: 128 },
    type: { isRequired: true, only: 'CHECKING' },
    grant_id: { longest: 256 },
    cursor: { longest: 1_024 },
    limit: { isLimit: true },
  },
};

/**
 * The errors of known parameters in the order of the operation's table, the first decoded unknown names in
 * the order of the query, up to 20 errors in all, and the values of valid parameters.
 */
export function expectedOf(listing: 'brands' | 'balances', query: string) {
  const sent = pairsOf(query).slice(0, 100);
  const rules = rulesOf[listing];
  const faults: [string, string][] = [];
  const values: Record<string, string | number | undefined> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const encoded = sent.filter((pair) => pair.name === name).map(({ value }) => value);
    const code = faultOf(encoded, rule);
    if (code !== undefined) faults.push([code, name]);
    else if (encoded.length === 0) values[name] = rule.isLimit ? 50 : undefined;
    else values[name] = rule.isLimit ? Number(decoded(encoded[0]!)) : decoded(encoded[0]!);
  }
  const others = sent.map(({ name }) => name).filter((name) => !Object.hasOwn(rules, name));
  return { faults, unknown: [...new Set(others)].slice(0, 20 - faults.length), values };
}

/** Decoded names and encoded values. */
export function pairsOf(query: string): { readonly name: string; readonly value: string }[] {
  const pairs = query.split('&').filter((pair) => pair !== '');
  // URLSearchParams drops a leading question mark.
  const names = [...new URLSearchParams(`&${query}`)].map(([name]) => name);
  return pairs.map((pair, index) => ({
    name: names[index]!,
    value: pair.includes('=') ? pair.slice(pair.indexOf('=') + 1) : '',
  }));
}

export function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function faultOf(encoded: readonly string[], rule: Rule): string | undefined {
  if (encoded.length === 0) return rule.isRequired ? 'MISSING_REQUIRED_PARAMETER' : undefined;
  if (encoded.length > 1) return 'CONFLICTING_PARAMETERS';
  const text = decoded(encoded[0]!);
  if (text === undefined || hasControlCharacter(text)) return 'INVALID_CHARACTER';
  if (text === '') return 'VALUE_EMPTY';
  if (rule.longest !== undefined && [...text].length > rule.longest) return 'VALUE_TOO_LONG';
  if (rule.only !== undefined && text !== rule.only) return 'INVALID_ENUM_VALUE';
  return rule.isLimit ? faultOfLimit(text) : undefined;
}

function faultOfLimit(text: string): string | undefined {
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) return 'EXPECTED_INTEGER';
  if (Number(text) < 1) return 'VALUE_TOO_LOW';
  return Number(text) > 100 ? 'VALUE_TOO_HIGH' : undefined;
}
