/** Checks the erasure of a customer, as "export erasures" prints it. */

import { ingestBounds } from '@partner-network/common/bounds/operator';
import { toTime } from '@partner-network/common/times';
import { lengths } from '@partner-network/contract/limits';
import type { ErasedCustomer } from '@partner-network/store/port';
import { createChecker } from './check.ts';
import { type Rejection, timeRejection } from './rejections.ts';

const check = createChecker({
  required: ['customer_id', 'erased_at'],
  properties: {
    customer_id: { type: 'string', maxLength: lengths.customerId },
    erased_at: { type: 'string', format: 'date-time' },
  },
});

/** Turns the value of a line into an erasure, or lists all of its rejections. */
export function readErasure(value: unknown): { record: ErasedCustomer; rejections: Rejection[] } {
  const { fields, rejections } = check(value);
  const record = fields as unknown as ErasedCustomer;
  // A typo of 2099 would keep every record of the customer away.
  const latest = toTime(Date.now() + ingestBounds.importClockAheadMs);
  if (record.erased_at > latest) rejections.push(timeRejection('ahead', 'erased_at'));
  return { record, rejections };
}
