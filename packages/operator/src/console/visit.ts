/** A request of a person who is signed in, and what a page may do for it. */
import { type AdminOperationId, adminOperations } from '@partner-network/contract/admin/operations';
import { mayUse } from '@partner-network/contract/admin/roles';
import type { Exchange } from '@partner-network/http/handle';
import type { Refusal } from '@partner-network/http/refusal';
import type { Cursors } from '@partner-network/service/cursors/cursors';
import type { AuditEntry, Partner, Receipt, Store } from '@partner-network/store/port';
import type { Calls } from '../admin/calls.ts';
import type { ShownKey } from '../admin/lists.ts';
import type { Examined } from '../doctor/examine.ts';
import type { ListedGrant } from '../operations/grants.ts';
import type { Page } from './layout.ts';
import type { Session } from './session.ts';

/** What an operation takes besides the key. Ids are not encoded yet. */
interface Given {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined | null>>;
  readonly body?: object;
}

type Listed<Name extends string, Item> = Readonly<Record<Name, readonly Item[]>> & {
  readonly cursor?: string;
};

/** The answers that pages read. */
export interface Answers {
  readonly listPartners: Listed<'partners', Partner>;
  readonly getPartner: { readonly partner: Partner };
  readonly listKeys: Listed<'keys', ShownKey>;
  readonly getKey: { readonly key: ShownKey };
  readonly findKey: { readonly key: ShownKey };
  readonly listGrants: Listed<'grants', ListedGrant>;
  readonly listAudit: Listed<'entries', AuditEntry>;
  readonly listReceipts: Listed<'receipts', Receipt>;
  readonly getRequest: { readonly receipt: Receipt };
}

type AnswerOf<Id> = Id extends keyof Answers ? Answers[Id] : unknown;

export interface Visit {
  readonly store: Store;
  readonly cursors: Cursors;
  readonly examine: () => Promise<readonly Examined[]>;
  readonly exchange: Exchange;
  readonly session: Session;
  /** The parameters of the path. */
  readonly ids: Readonly<Record<string, string>>;
  /** The query without empty fields, which forms send. */
  readonly query: URLSearchParams;
  /** The fields of a form. Empty for a GET. */
  readonly form: URLSearchParams;
  /** Runs an operation of the API with the role of this person. */
  call<Id extends AdminOperationId>(id: Id, given?: Given): Promise<AnswerOf<Id>>;
  /** Whether the role allows the operation. What it does not allow is not shown. */
  may(id: AdminOperationId): boolean;
}

/** A page, another address to go to, or a file to keep. */
export type Outcome = Page | { readonly to: string } | { readonly file: string; readonly name: string };

export function createCall(calls: Calls, { key }: Session, exchange: Exchange): Pick<Visit, 'call' | 'may'> {
  return {
    may: (operation) => mayUse(key.role, adminOperations[operation].role),
    call: async <Id extends AdminOperationId>(id: Id, { path = {}, query = {}, body }: Given = {}) => {
      const encoded = Object.fromEntries(
        Object.entries(path).map(([name, value]) => [name, encodeURIComponent(value)]),
      );
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined || value === null ? [] : [[name, String(value)] as [string, string]],
      );
      const text = new URLSearchParams(given).toString();
      const asked = { key, exchange, encoded, query: text, body: async () => body };
      return (await calls(id, asked)).body as AnswerOf<Id>;
    },
  };
}

/** Sets the status, and the code for logs and metrics. */
export function noteRefusal(exchange: Exchange, { status, errors }: Refusal): void {
  exchange.status = status;
  exchange.code = errors[0].code;
}
