import { holdsKey } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { errorCatalogue } from '@partner-network/contract/errors';
import type { Access } from '@partner-network/http/handle';
import type { KeyOnFile, Receipt } from '@partner-network/store/port';

/** Outcomes that only rehearsals have: a code that does not exist, and a fault without a code. */
export const rehearsedOutcomes = { unknownCode: 'REHEARSED_UNKNOWN_CODE', noCode: 'REHEARSED_FAULT' };

const outcomes = ['GRANTED', ...Object.keys(errorCatalogue), ...Object.values(rehearsedOutcomes)];

export const someOutcome = 'GRANTED or the code of an error, such as GRANT_REVOKED';

/** Whether a receipt can have this outcome: a mistyped filter must not look like "nobody read it". */
export function isOutcome(text: string): boolean {
  return outcomes.includes(text);
}

/** The receipt of a response. It contains nothing of the response's body. */
export function receiptOf(
  requestId: string,
  key: Pick<KeyOnFile, 'id' | 'partnerId'>,
  { customerId, grantId }: Access,
  outcome: string | undefined,
  nowMs: number,
): Receipt {
  return {
    at: toTime(nowMs),
    request_id: requestId,
    partner_id: key.partnerId,
    key_id: key.id,
    ...(customerId !== undefined && { customer_id: ownText(customerId) }),
    ...(grantId !== undefined && { grant_id: ownText(grantId) }),
    outcome: outcome ?? 'GRANTED',
  };
}

/**
 * Copies the text: a slice of the request line would keep all of its 16 KiB in memory. Masks an API key that
 * was sent instead of an id: only digests of keys are ever stored.
 */
function ownText(text: string): string {
  return holdsKey(text) ? '[key]' : Buffer.from(text).toString();
}
