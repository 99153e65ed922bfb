export const adminRoles = ['VIEWER', 'INGEST', 'SUPPORT', 'ADMIN'] as const;

/** What an administrative key may do. */
export type AdminRole = (typeof adminRoles)[number];

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
