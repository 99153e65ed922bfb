/** A request of a person who is signed in, and what a page may read and do for it. */
import type { AdminOperationId } from '@partner-network/contract/admin/operations';
import type { Exchange } from '@partner-network/http/handle';
import type { Refusal } from '@partner-network/http/refusal';
import type { Store } from '@partner-network/store/port';
import type { AnswerOf } from '../admin/calls.ts';
import type { OperationInput } from '../admin/request.ts';
import type { Examined } from '../doctor/examine.ts';
import type { Counted } from './counted.ts';
import type { Page } from './layout.ts';
import type { Session } from './session.ts';

/** Texts by their names. */
export type Texts = Readonly<Record<string, string>>;

/** What pages read that the API does not offer. No amount is among it. */
export type Reads = Pick<
  Store,
  | 'countReceipts'
  | 'expiringKeys'
  | 'findBrands'
  | 'findGrants'
  | 'findKeyById'
  | 'findPartner'
  | 'isErased'
  | 'listAdminKeys'
  | 'listGrants'
  | 'listKeys'
  | 'listPartners'
  | 'listReceipts'
  | 'partnerNames'
  | 'refusalTimes'
> & {
  /** The checks of `doctor` that concern the database. */
  examine(): Promise<readonly Examined[]>;
  /** The same, up to a minute old. Undefined until they are known. */
  examined(): Promise<readonly Examined[] | undefined>;
  /** What partners were answered, up to a minute ago. Undefined until it is known. */
  counted(): Promise<Counted | undefined>;
};

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

/** A file to keep, in parts, which are read as they are sent. */
export interface Download {
  readonly file: AsyncIterable<string>;
  readonly name: string;
  readonly type: string;
}

/** A page, another address to go to, or a file to keep. */
export type Outcome = Page | { readonly to: string } | Download;

/** Sets the status, and the code for logs and metrics. */
export function noteRefusal(exchange: Exchange, { status, code }: Refusal): void {
  exchange.status = status;
  exchange.code = code;
}
