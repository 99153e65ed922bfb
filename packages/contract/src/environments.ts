export const environments = ['production', 'sandbox'] as const;

export type Environment = (typeof environments)[number];

/** The beginning of a key, which shows its kind and its environment. */
export type KeyPrefixes = Readonly<Record<Environment, string>>;

/** The beginning of an API key, which a partner sends. */
export const keyPrefixes: KeyPrefixes = { production: 'pn_live_', sandbox: 'pn_test_' };

/** The beginning of an administrative key, which the administrative service accepts. */
export const adminKeyPrefixes: KeyPrefixes = { production: 'pna_live_', sandbox: 'pna_test_' };

const anyOf = (...kinds: KeyPrefixes[]) => `(?:${kinds.flatMap(Object.values<string>).join('|')})`;

/** The source of a regular expression for the beginning of a key of any kind, to mask keys in texts. */
export const keyPrefixPattern = anyOf(keyPrefixes, adminKeyPrefixes);

/** What follows the prefix: 43 characters of secret and 6 of checksum, both in base 62. */
const rest = '[0-9A-Za-z]{49}';

/** The same for a whole key of any kind. */
export const keyPattern = keyPrefixPattern + rest;

/** The same for a whole key of one kind. */
export const keyPatternOf = (kind: KeyPrefixes) => anyOf(kind) + rest;
