export const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;

export type Scope = (typeof scopes)[number];
