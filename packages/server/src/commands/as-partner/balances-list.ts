import { lengths } from '@partner-network/contract/limits';
import { balanceSchema } from '@partner-network/contract/records';
import { money, shortTime } from '../../command-line/amounts.ts';
import { oneOf, optional, plainText, required } from '../../command-line/options.ts';
import { neverShortened } from '../../command-line/table.ts';
import { partnerListing } from './listing.ts';

const types = balanceSchema.properties.type.enum;

export const listBalances = partnerListing({
  name: 'balances',
  options: {
    customer: required('ID', plainText(lengths.customerId), 'whose balances'),
    type: optional(types.join('|'), oneOf(types), `which type of them (${types[0]})`),
    'grant-id': optional(
      'ID',
      plainText(lengths.grantId),
      'the grant to read them by; any active one will do',
    ),
  },
  flags: { customer_id: 'customer' },
  parameters: ({ customer, type = types[0], 'grant-id': grant_id }) => ({
    customer_id: customer,
    type,
    grant_id,
  }),
  list: (network, parameters) => network.balances.list(parameters),
  records: ({ balances }) => balances,
  columns: [
    { heading: 'ID', cell: ({ id }) => id },
    {
      heading: 'AMOUNT',
      isRight: true,
      minCells: neverShortened,
      cell: ({ amount, currency }) => money(amount, currency),
    },
    { heading: 'TYPE', cell: ({ type }) => type },
    {
      heading: 'UPDATED (UTC)',
      minCells: neverShortened,
      cell: ({ updated_at }) => shortTime(updated_at),
    },
  ],
});
