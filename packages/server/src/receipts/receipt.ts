import { holdsKey } from '../lib/text.ts';
import { toTime } from '../lib/times.ts';
import type { KeyOnFile, Receipt } from '../store/port.ts';

/** Whose data is asked for, and under which grant, as far as it is known. */
export interface Access {
  readonly customerId?: string | undefined;
  readonly grantId?: string | undefined;
}

/** What is kept of an answer; nothing that was in it. */
export function receiptOf(
  requestId: string,
  key: KeyOnFile,
  { customerId, grantId }: Access,
  code: string | undefined,
  nowMs: number,
): Receipt {
  return {
    at: toTime(nowMs),
    request_id: requestId,
    partner_id: key.partnerId,
    key_id: key.id,
    ...(customerId !== undefined && { customer_id: ownText(customerId) }),
    ...(grantId !== undefined && { grant_id: ownText(grantId) }),
    outcome: code ?? 'GRANTED',
  };
}

/**
 * A copy: a piece of a request's line would keep all of its 16 KiB in memory for as long as it waits. A key
 * that was sent in the place of an id is not written down: of a key only a digest is ever stored.
 */
function ownText(text: string): string {
  return holdsKey(text) ? '[key]' : Buffer.from(text).toString();
}
