export const environments = ['production', 'sandbox'] as const;

export type Environment = (typeof environments)[number];

/** The beginning of an API key, which shows its environment. */
export const keyPrefixes: Readonly<Record<Environment, string>> = {
  production: 'pn_live_',
  sandbox: 'pn_test_',
};

/** The source of a regular expression for the beginning of an API key. */
export const keyPrefixPattern = `(?:${Object.values(keyPrefixes).join('|')})`;

/** The same for a whole key: the prefix, 43 characters of secret and 6 of checksum, both in base 62. */
export const keyPattern = `${keyPrefixPattern}[0-9A-Za-z]{49}`;
