/** What pages read that the API does not offer. The role VIEWER, which every person has, may read it. */
import type { Brand, Partner, Store } from '@partner-network/store/port';
import { receiptOfRequest } from '../admin/lists.ts';
import { notFound } from '../admin/refusals.ts';
import type { Examined } from '../doctor/examine.ts';

export type Reads = ReturnType<typeof createReads>;

/** `examine` runs the checks of `doctor` that concern the database. */
export function createReads(store: Store, examine: () => Promise<readonly Examined[]>) {
  return {
    examine,
    isErased: store.isErased,

    brand: async (partnerId: string, id: string): Promise<Brand> => {
      const brand = (await store.findBrands(id)).find(({ partner_id }) => partner_id === partnerId);
      if (brand === undefined) throw notFound('The partner has no brand with this id.');
      return brand;
    },

    /** All that has this id, and the partners whose name contains it. Only grants and brands can be many. */
    find: async (id: string) => {
      const at = new Date().toISOString();
      const [partners, key, grants, brands, ofCustomer, receipts, isErased, receipt] = await Promise.all([
        store.listPartners(),
        store.findKeyById(id),
        store.findGrants(id),
        store.findBrands(id),
        store.listGrants({ customerId: id, at, limit: 1 }),
        store.listReceipts({ customerId: id, limit: 1 }),
        store.isErased(id),
        receiptOfRequest(store, id),
      ]);
      const isNamed = ({ name }: Partner) => name.toLowerCase().includes(id.toLowerCase());
      return {
        partner: partners.find((partner) => partner.id === id),
        key,
        isCustomer: ofCustomer.length > 0 || receipts.length > 0 || isErased,
        receipt,
        brands,
        grants,
        named: partners.filter((partner) => partner.id !== id && isNamed(partner)),
      };
    },
  };
}
