/** The environment variables that hold keys and ids. Reports name them in place of their values. */
export const variables = {
  PARTNER_NETWORK_API_KEY: 'an API key with both scopes; required',
  PARTNER_NETWORK_CUSTOMER_ID: 'a customer who gave this partner an active grant',
  PARTNER_NETWORK_GRANT_ID: 'an active grant from that customer to this partner',
  PARTNER_NETWORK_CUSTOMER_ID_WITHOUT_GRANT: 'a customer who gave this partner no grant',
  PARTNER_NETWORK_BRANDS_ONLY_API_KEY: 'a key of this partner with the scope BRANDS_READ only',
  PARTNER_NETWORK_OTHER_PARTNER_API_KEY:
    'a key of another partner with both scopes; the customer gave that partner no grant',
  PARTNER_NETWORK_REVOKED_API_KEY: 'a revoked key',
  PARTNER_NETWORK_EXPIRED_API_KEY: 'an expired key',
  PARTNER_NETWORK_OTHER_ENVIRONMENT_API_KEY: 'a key of the other environment',
} as const;

export type Variable = keyof typeof variables;

/** The variables that are set. */
export type Supplied = Readonly<Partial<Record<Variable, string>>>;
