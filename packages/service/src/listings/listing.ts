import type { Operation } from '@partner-network/contract/operations';
import type { Access } from '@partner-network/http/handle';
import type { ParameterValues } from '@partner-network/http/parameters';
import type { KeyOnFile, Page, Reads } from '@partner-network/store/port';
import type { Position } from '../cursors/cursors.ts';

interface Sources {
  readonly store: Reads;
  /** The public address, escaped for use inside a JSON string. */
  readonly publicAddress: () => string;
  readonly nowMs: () => number;
}

interface ListedPage extends Page {
  /** The grant that allowed the read, if the listing needs one. */
  readonly grantId?: string;
}

/** What is particular to one listing. The rest is shared, in `serve/pipeline.ts`. */
export interface Listing<O extends Operation = Operation> {
  readonly operation: O;
  /** Reads the page after a position, or throws a refusal. */
  page(
    sources: Sources,
    key: KeyOnFile,
    parameters: ParameterValues<O>,
    position: Position,
  ): Promise<ListedPage>;
  /** The customer and grant that a request names. A listing with this method writes receipts. */
  access?(parameters: Partial<ParameterValues<O>>): Access;
}
