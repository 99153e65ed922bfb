import type { Operation } from '@partner-network/contract/operations';
import type { Position } from '../cursors/cursors.ts';
import type { Parameters } from '../http/parameters/parameters.ts';
import type { Access } from '../receipts/receipt.ts';
import type { KeyOnFile, Page, Reads } from '../store/port.ts';

/** What a listing reads from. */
interface Sources {
  readonly store: Reads;
  /** As it stands inside a JSON string. */
  readonly publicAddress: () => string;
  readonly nowMs: () => number;
}

/** A page, and the grant that opened it where it takes one. */
interface ListedPage extends Page {
  readonly grantId?: string;
}

/** What is particular to one listing; all that they share is in the pipeline. */
export interface Listing<O extends Operation> {
  readonly operation: O;
  /** What a cursor is bound to besides partner and endpoint: the search, not the page size or the grant. */
  filters(parameters: Parameters<O>): readonly (string | undefined)[];
  /** The page after a position, or a refusal. */
  page(sources: Sources, key: KeyOnFile, parameters: Parameters<O>, position: Position): Promise<ListedPage>;
  /** Whom a request is about, as far as it says. A listing that has this leaves a receipt of every answer. */
  access?(parameters: Partial<Parameters<O>>): Access;
}
