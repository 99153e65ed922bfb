import { toTime } from '@partner-network/common/times';
import { listBalances } from '@partner-network/contract/operations';
import { requireGrant } from '../auth/authorize.ts';
import type { Listing } from './listing.ts';

export const balances: Listing<typeof listBalances> = {
  operation: listBalances,
  async page({ store, nowMs }, key, { customer_id, type, grant_id, limit }, { after }) {
    const answer = await store.listBalances({
      partnerId: key.partnerId,
      customerId: customer_id,
      type,
      grantId: grant_id,
      at: toTime(nowMs()),
      after,
      limit,
    });
    const { page, grantId } = requireGrant(answer, grant_id);
    return { ...page, grantId };
  },
  access: ({ customer_id, grant_id }) => ({ customerId: customer_id, grantId: grant_id }),
};
