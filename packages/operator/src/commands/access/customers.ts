import { confirm, yes } from '@partner-network/common/command-line/changes';
import { ConclusiveError } from '@partner-network/common/errors';
import { counted } from '@partner-network/common/text';
import { changing, customerId, waitingFor } from '../database.ts';

export const eraseCustomer = changing('customers erase', {
  ifFailed: 'Assume that nothing was erased until this command succeeds.',
  notYet: () => waitingFor('Nothing is erased yet'),
  arguments: [{ name: 'CUSTOMER_ID', help: 'id of the customer', read: customerId }],
  options: { yes },
  ask: ({ yes }, [id]) => confirm(`This deletes all balances and grants of customer ${id} for good.`, yes),
  run: async (store, _values, [id = ''], _output, by) => {
    const erased = await store.eraseCustomer(id, by);
    if (erased === undefined) {
      const remedy = '"partner-network export erasures" prints the customers that were erased before.';
      throw new ConclusiveError(`There is no balance or grant of customer ${id}. Check the id. ${remedy}`);
    }
    const { balances, grants } = erased;
    return {
      value: { customer_id: id, balances, grants },
      text:
        `Erased customer ${id}: deleted ${counted(balances, 'balance')} and ${counted(grants, 'grant')}. ` +
        'Late updates do not bring them back, and lines without updated_at are rejected. ' +
        'Receipts stay until they are pruned.',
    };
  },
});
