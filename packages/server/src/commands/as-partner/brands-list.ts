import { lengths } from '@partner-network/contract/limits';
import { shortTime } from '../../command-line/amounts.ts';
import { optional, plainText } from '../../command-line/options.ts';
import { issuedIdCells, neverShortened } from '../../command-line/table.ts';
import { partnerListing } from './listing.ts';

export const listBrands = partnerListing({
  name: 'brands',
  options: {
    'reference-id': optional('ID', plainText(lengths.referenceId), 'only those with this reference_id'),
  },
  parameters: (values) => ({ reference_id: values['reference-id'] }),
  list: (network, parameters) => network.brands.list(parameters),
  records: ({ brands }) => brands,
  columns: [
    { heading: 'NAME', cell: ({ name }) => name },
    { heading: 'REFERENCE', cell: ({ reference_id }) => reference_id },
    { heading: 'COLOR', minCells: neverShortened, cell: ({ color = '' }) => color },
    { heading: 'ID', minCells: issuedIdCells, cell: ({ id }) => id },
    {
      heading: 'UPDATED (UTC)',
      minCells: neverShortened,
      cell: ({ updated_at }) => shortTime(updated_at),
    },
  ],
});
