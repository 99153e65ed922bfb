import {
  defaulted,
  oneOf,
  optional,
  plainText,
  required,
} from '@partner-network/common/command-line/options';
import { issuedIdCells, money, neverShortened, shortTime } from '@partner-network/common/command-line/table';
import { lengths } from '@partner-network/contract/limits';
import { balanceSchema } from '@partner-network/contract/records';
import { partnerListing } from './listing.ts';

const updated = {
  heading: 'UPDATED (UTC)',
  minCells: neverShortened,
  cell: ({ updated_at }: { readonly updated_at?: string }) => shortTime(updated_at),
};

export const listBrands = partnerListing({
  name: 'brands',
  options: {
    'reference-id': optional('ID', plainText(lengths.referenceId), 'only brands with this reference_id'),
  },
  parameters: (values) => ({ reference_id: values['reference-id'] }),
  list: (network, parameters) => network.brands.list(parameters),
  records: ({ brands }) => brands,
  columns: [
    { heading: 'NAME', cell: ({ name }) => name },
    { heading: 'REFERENCE', cell: ({ reference_id }) => reference_id },
    { heading: 'COLOR', minCells: neverShortened, cell: ({ color = '' }) => color },
    { heading: 'ID', minCells: issuedIdCells, cell: ({ id }) => id },
    updated,
  ],
});

const types = balanceSchema.properties.type.enum;
const anyGrant = 'grant to use; without it, any active grant';

export const listBalances = partnerListing({
  name: 'balances',
  options: {
    customer: required('ID', plainText(lengths.customerId), 'customer whose balances to list'),
    type: defaulted(types.join('|'), oneOf(types), types[0], 'type of the balances'),
    'grant-id': optional('ID', plainText(lengths.grantId), anyGrant),
  },
  flags: { customer_id: 'customer' },
  parameters: (values) => ({
    customer_id: values.customer,
    type: values.type,
    grant_id: values['grant-id'],
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
    updated,
  ],
});
