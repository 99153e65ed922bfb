/** What keys may do: scopes of the API keys of partners, and roles of administrative keys. */
export const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;

export type Scope = (typeof scopes)[number];

export const scopeMeanings: Readonly<Record<Scope, string>> = {
  BALANCES_READ: 'List the balances of customers who gave you a grant.',
  BRANDS_READ: 'List your own brands.',
};

export const adminRoles = ['VIEWER', 'INGEST', 'SUPPORT', 'ADMIN'] as const;

export type AdminRole = (typeof adminRoles)[number];

/** The roles that people may have, the lowest first. */
export const peopleRoles = ['VIEWER', 'SUPPORT', 'ADMIN'] as const satisfies readonly AdminRole[];

export const adminRoleMeanings: Readonly<Record<AdminRole, string>> = {
  VIEWER: 'Read everything that the administrative service shows, and change nothing.',
  INGEST: 'Send batches of brands, balances and grants, and nothing else.',
  SUPPORT: 'Read as a VIEWER, and take access away: disable partners, revoke keys and grants.',
  ADMIN: 'Everything.',
};

/** The roles whose requests a role may send. */
const covered: Readonly<Record<AdminRole, readonly AdminRole[]>> = {
  VIEWER: ['VIEWER'],
  INGEST: ['INGEST'],
  SUPPORT: ['VIEWER', 'SUPPORT'],
  ADMIN: adminRoles,
};

/** Whether a key with the role may send a request that needs a role. */
export function mayUse(role: AdminRole, needed: AdminRole): boolean {
  return covered[role].includes(needed);
}
