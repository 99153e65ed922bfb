import { listBrands } from '@partner-network/contract/operations';
import { publicAddressMark } from '@partner-network/store/port';
import type { Listing } from './listing.ts';

export const brands: Listing<typeof listBrands> = {
  operation: listBrands,
  async page({ store, publicAddress }, key, { reference_id, limit }, { after, walPosition }) {
    const page = await store.listBrands({
      partnerId: key.partnerId,
      referenceId: reference_id,
      after,
      walPosition,
      limit,
    });
    const records = page.records.replaceAll(publicAddressMark, publicAddress);
    return records === page.records ? page : { ...page, records, bytes: Buffer.byteLength(records) };
  },
};
