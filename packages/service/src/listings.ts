/** What is particular to each listing. What all have in common is in `serve/pipeline.ts`. */
import { toTime } from '@partner-network/common/times';
import {
  type ListingName,
  type ListingOperation,
  listBalances,
  listBrands,
  type listingByName,
} from '@partner-network/contract/operations';
import type { Access } from '@partner-network/http/handle';
import type { ParameterValues } from '@partner-network/http/request';
import { type KeyOnFile, type Page, publicAddressMark, type Reads } from '@partner-network/store/port';
import { requireGrant } from './auth.ts';
import type { Position } from './cursors.ts';

interface Sources {
  readonly store: Reads;
  /** The public address, escaped for use inside a JSON string. */
  readonly publicAddress: () => string;
  readonly nowMs: () => number;
}

export interface Listing<O extends ListingOperation = ListingOperation> {
  readonly operation: O;
  /** Reads the page after a position, and the grant that allowed it, or throws a refusal. */
  page(
    sources: Sources,
    key: KeyOnFile,
    parameters: ParameterValues<O>,
    position: Position,
  ): Promise<Page & { readonly grantId?: string }>;
  /** The customer and grant that a request names. A listing with this method writes receipts. */
  access?(parameters: Partial<ParameterValues<O>>): Access;
}

const brands: Listing<typeof listBrands> = {
  operation: listBrands,
  async page({ store, publicAddress }, { partnerId }, { reference_id, limit }, { after, walPosition }) {
    const page = await store.listBrands({ partnerId, referenceId: reference_id, after, walPosition, limit });
    const records = page.records.replaceAll(publicAddressMark, publicAddress);
    return records === page.records ? page : { ...page, records, bytes: Buffer.byteLength(records) };
  },
};

const balances: Listing<typeof listBalances> = {
  operation: listBalances,
  async page({ store, nowMs }, { partnerId }, { customer_id, type, grant_id, limit }, { after }) {
    const answer = await store.listBalances({
      partnerId,
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

/** A listing of the contract that is missing here does not compile. */
const byName: { readonly [Name in ListingName]: Listing<(typeof listingByName)[Name]> } = {
  brands,
  balances,
};

export const listings: readonly Listing[] = Object.values(byName);
