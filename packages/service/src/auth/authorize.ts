import type { Scope } from '@partner-network/contract/permissions';
import { refusal } from '@partner-network/http/refusal';
import type { BalancesAnswer, KeyOnFile } from '@partner-network/store/port';

export function requireScope(key: KeyOnFile, scope: Scope): void {
  if (!key.scopes.includes(scope)) throw refusal('INSUFFICIENT_SCOPES', { scope });
}

/** Returns the page that an active grant opens. Refuses any other grant, by its status. */
export function requireGrant(
  answer: BalancesAnswer,
  grantId: string | undefined,
): Extract<BalancesAnswer, { grant: 'ACTIVE' }> {
  if (answer.grant === 'ACTIVE') return answer;
  throw refusal(`GRANT_${answer.grant}`, {}, grantId === undefined ? undefined : 'grant_id');
}
