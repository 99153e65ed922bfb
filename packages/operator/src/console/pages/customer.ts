/** A customer: who may read the balances, and who did. No amount is read. */
import { html } from '../html.ts';
import type { Page } from '../layout.ts';
import { buttonTo, code, facts, linkTo, pager, pathTo } from '../parts.ts';
import { grantTable, receiptTable } from '../tables.ts';
import type { Visit } from '../visit.ts';

export async function customerPage(visit: Visit): Promise<Page> {
  const { call, may, query, ids, reads } = visit;
  const customer_id = ids.customer_id!;
  const { grants, cursor: moreGrants } = await call('listGrants', {
    query: { customer_id, limit: 25, cursor: query.grants },
  });
  const { receipts, cursor: moreReceipts } = await call('listReceipts', {
    query: { customer_id, limit: 25, cursor: query.receipts },
  });
  const isErased = await reads.isErased(customer_id);
  const path = pathTo('customers', customer_id);
  const filters = new URLSearchParams({ customer_id, outcome: 'GRANTED' });
  const granted = linkTo(`${pathTo('receipts')}?${filters}`, 'Only partners that got the balances');
  return {
    title: `Customer ${customer_id}`,
    body: html`<h1>Customer ${code(customer_id)}</h1>
${isErased && facts([['State', 'Erased. What is listed here is newer, or a receipt.']])}
<p class="actions">${may('revokeGrants') && buttonTo(`${path}/revoke-grants`, 'Revoke all grants', true)}
${may('eraseCustomer') && buttonTo(`${path}/erase`, 'Erase', true)}</p>
<h2>Grants</h2>
${grantTable(visit, grants, 'customer', 'No grant: no partner can read the balances. Is the id complete?')}
${pager(path, query, 'grants', moreGrants)}
<h2>Who read the balances?</h2>
${receipts.length > 0 && html`<p>All partners that asked. ${granted}</p>`}
${receiptTable(receipts, 'No receipt: no partner asked for the balances since receipts were last pruned.')}
${pager(path, query, 'receipts', moreReceipts)}`,
  };
}
