export const environments = ['production', 'sandbox'] as const;

export type Environment = (typeof environments)[number];

/** How an API key begins, so that its environment can be told from its text. */
export const keyPrefixes: Readonly<Record<Environment, string>> = {
  production: 'pn_live_',
  sandbox: 'pn_test_',
};
