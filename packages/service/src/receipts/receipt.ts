import { holdsKey } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import type { Access } from '@partner-network/http/handle';
import type { KeyOnFile, Receipt } from '@partner-network/store/port';

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
