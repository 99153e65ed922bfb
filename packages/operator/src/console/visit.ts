/** A request of a person who is signed in, and what a page may do for it. */
import { type AdminOperationId, adminOperations } from '@partner-network/contract/admin/operations';
import { mayUse } from '@partner-network/contract/admin/roles';
import type { Exchange } from '@partner-network/http/handle';
import type { Refusal } from '@partner-network/http/refusal';
import type { Cursors } from '@partner-network/service/cursors/cursors';
import type { Store } from '@partner-network/store/port';
import type { Calls } from '../admin/calls.ts';
import type { Examined } from '../doctor/examine.ts';
import type { Page } from './layout.ts';
import type { Session } from './session.ts';

/** What an operation takes besides the key. Ids are not encoded yet. */
interface Given {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined | null>>;
  readonly body?: object;
}

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
  call<Body>(id: AdminOperationId, given?: Given): Promise<Body>;
  /** Whether the role allows the operation. What it does not allow is not shown. */
  may(id: AdminOperationId): boolean;
}

/** A page, another address to go to, or a file to keep. */
export type Outcome = Page | { readonly to: string } | { readonly file: string; readonly name: string };

export function createCall(calls: Calls, { key }: Session, exchange: Exchange): Pick<Visit, 'call' | 'may'> {
  return {
    may: (operation) => mayUse(key.role, adminOperations[operation].role),
    call: async <Body>(operation: AdminOperationId, { path = {}, query = {}, body }: Given = {}) => {
      const encoded = Object.fromEntries(
        Object.entries(path).map(([name, value]) => [name, encodeURIComponent(value)]),
      );
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined || value === null ? [] : [[name, String(value)] as [string, string]],
      );
      const text = new URLSearchParams(given).toString();
      const asked = { key, exchange, encoded, query: text, body: async () => body };
      return (await calls(operation, asked)).body as Body;
    },
  };
}

/** Sets the status, and the code for logs and metrics. */
export function noteRefusal(exchange: Exchange, { status, errors }: Refusal): void {
  exchange.status = status;
  exchange.code = errors[0].code;
}
