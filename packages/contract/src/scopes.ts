export const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;

export type Scope = (typeof scopes)[number];

/** What a key with the scope may do. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  BALANCES_READ: 'List the balances of customers who gave you a grant.',
  BRANDS_READ: 'List your own brands.',
};
