export const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;

export type Scope = (typeof scopes)[number];

export const environments = ['production', 'sandbox'] as const;

export type Environment = (typeof environments)[number];
