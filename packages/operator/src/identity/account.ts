/** Reads from the claims of a person who signs in: the name for the audit log, and the role. */
import { holdsKey, isCleanText, isLongerThan, printable } from '@partner-network/common/text';
import { type AdminRole, peopleRoles } from '@partner-network/contract/permissions';
import type { OidcSettings } from './settings.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** An account at the provider, as the audit log names it. */
export interface Account {
  readonly actor: `person:${string}`;
  readonly details: { readonly subject: string; readonly issuer: string };
}

/** An actor as people read it: the name of a person alone. */
export const nameOf = (actor: string) => actor.replace(/^person:/, '');

/** An actor of the audit log has 256 characters, with `person:`. */
const mostCharacters = 249;

/** A text that can be stored and shown: neither long nor with characters that nobody sees. */
function storable(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.trim() !== value || holdsKey(value))
    return undefined;
  const isSeen = printable(value) === value && !/\p{Default_Ignorable_Code_Point}/u.test(value);
  return isCleanText(value) && isSeen && !isLongerThan(value, mostCharacters) ? value : undefined;
}

/** An unproved address may be that of somebody else. Some providers send the claim as a text. */
const isRefuted = ({ email_verified }: Claims) => ![undefined, true, 'true'].includes(email_verified as true);

/** Undefined if the subject cannot be stored. It is never cut: two accounts could then be one. */
export function accountOf(claims: Claims): Account | undefined {
  const { iss, sub, email, preferred_username } = claims;
  const subject = storable(sub);
  if (subject === undefined) return undefined;
  const address = isRefuted(claims) ? undefined : storable(email);
  const other = preferred_username === email ? undefined : storable(preferred_username);
  return { actor: `person:${address ?? other ?? subject}`, details: { subject, issuer: String(iss) } };
}

/** The highest role that a value of the claim gives. */
export function roleOf(claims: Claims, settings: OidcSettings): AdminRole | undefined {
  const claim = settings['oidc-role-claim'];
  if (claim === 'email' && isRefuted(claims)) return undefined;
  const values: unknown[] = [claims[claim]].flat();
  const given = settings['oidc-role'].filter(([value]) => values.includes(value)).map(([, role]) => role);
  return peopleRoles.findLast((role) => given.includes(role));
}

/** Whether the provider left the claim out because the account has too many groups, as Entra ID does. */
export function isClaimLeftOut(claims: Claims, roleClaim: string): boolean {
  return Object.hasOwn(Object(claims._claim_names), roleClaim);
}
