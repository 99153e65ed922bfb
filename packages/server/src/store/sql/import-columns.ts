import type { ImportKind } from '../port.ts';

interface ImportColumns {
  readonly identity: readonly string[];
  readonly content: readonly string[];
  /** All of them, in the order in which rows are staged; a record's times come last. */
  readonly all: readonly string[];
}

function columns(identity: string[], content: string[]): ImportColumns {
  return { identity, content, all: [...identity, ...content, 'created_at', 'updated_at'] };
}

/** What makes a row of each table the same one, and what it says. */
export const importColumns: Readonly<Record<ImportKind, ImportColumns>> = {
  brands: columns(['partner_id', 'id'], ['name', 'reference_id', 'color', 'profile_image_url', 'metadata']),
  balances: columns(['customer_id', 'id'], ['type', 'currency', 'amount']),
  grants: columns(['customer_id', 'id'], ['partner_id', 'action', 'status', 'expires_at']),
};
