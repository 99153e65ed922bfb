/** A request of a person who is signed in, and what a page may read and do for it. */
import type { AdminOperationId } from '@partner-network/contract/admin/operations';
import type { Exchange } from '@partner-network/http/handle';
import type { Refusal } from '@partner-network/http/refusal';
import type { Brand, Partner, Store } from '@partner-network/store/port';
import type { AnswerOf } from '../admin/calls.ts';
import { receiptOfRequest } from '../admin/lists.ts';
import { notFound } from '../admin/refusals.ts';
import type { OperationInput } from '../admin/request.ts';
import type { Examined } from '../doctor/examine.ts';
import type { Page } from './layout.ts';
import type { Session } from './session.ts';

/** Texts by their names. */
export type Texts = Readonly<Record<string, string>>;

export interface Visit {
  readonly exchange: Exchange;
  readonly session: Session;
  /** The parameters of the path. */
  readonly ids: Texts;
  /** The query without empty fields, which forms send. */
  readonly query: Texts;
  /** The fields of a form. Empty for a GET. */
  readonly form: URLSearchParams;
  /** Runs an operation of the API with the role of this person. */
  call<Id extends AdminOperationId>(id: Id, input?: Partial<OperationInput>): Promise<AnswerOf<Id>['body']>;
  /** Whether the role allows the operation. What it does not allow is not shown. */
  may(id: AdminOperationId): boolean;
  readonly reads: Reads;
}

/** A page, another address to go to, or a file to keep. */
export type Outcome = Page | { readonly to: string } | { readonly file: string; readonly name: string };

/** Sets the status, and the code for logs and metrics. */
export function noteRefusal(exchange: Exchange, { status, code }: Refusal): void {
  exchange.status = status;
  exchange.code = code;
}

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
