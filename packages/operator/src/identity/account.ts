/** Reads from the claims of a person who signs in: the name for the audit log, and the role. */
import { holdsKey, isCleanText, isLongerThan, printable } from '@partner-network/common/text';
import { type AdminRole, peopleRoles } from '@partner-network/contract/permissions';
import type { OidcSettings } from './settings.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface Account {
  readonly issuer: string;
  readonly subject: string;
  /** An e-mail address or another name, which is stored and shown. */
  readonly name: string;
}

/** An actor of the audit log has 256 characters, with `person:`. */
const mostCharacters = 249;

/** A text that can be stored and shown: neither long nor with characters that nobody sees. */
function storable(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '' || holdsKey(value)) return undefined;
  const isSound = isCleanText(value) && printable(value) === value && !isLongerThan(value, mostCharacters);
  return isSound ? value : undefined;
}

/** Undefined if the subject cannot be stored. It is never cut: two accounts could then be one. */
export function accountOf({ iss, sub, email, email_verified, preferred_username }: Claims) {
  const subject = storable(sub);
  if (subject === undefined) return undefined;
  // An address that nobody has proved may be that of somebody else.
  const address = email_verified === false ? undefined : storable(email);
  const other = preferred_username === email ? undefined : storable(preferred_username);
  const name = address ?? other ?? subject;
  return { issuer: String(iss), subject, name } satisfies Account;
}

/** The highest role that a value of the claim gives. */
export function roleOf(claims: Claims, settings: OidcSettings): AdminRole | undefined {
  const claim = settings['oidc-role-claim'];
  if (claim === 'email' && claims.email_verified === false) return undefined;
  const values: unknown[] = [claims[claim]].flat();
  const given = settings['oidc-role'].filter(([value]) => values.includes(value)).map(([, role]) => role);
  return peopleRoles.findLast((role) => given.includes(role));
}

/** Whether the provider left the claim out because the account has too many groups, as Entra ID does. */
export function isClaimLeftOut(claims: Claims, roleClaim: string): boolean {
  const names = claims._claim_names;
  return typeof names === 'object' && names !== null && roleClaim in names;
}
