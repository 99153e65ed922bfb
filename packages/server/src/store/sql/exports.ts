import { type ExportSelection, publicAddressMark } from '../port.ts';
import { grantColumns } from './accounts.ts';

interface ExportQuery {
  /** Selects rows in the order of the primary key. */
  readonly text: string;
  readonly values: readonly string[];
  /** Turns a row into the record's JSON. */
  readonly recordOf: (row: readonly unknown[]) => string;
}

/** Brands and balances are stored as JSON. Grants are never sent to partners, so their JSON is made here. */
export function exportQuery({ kind, partnerId }: ExportSelection): ExportQuery {
  if (kind === 'grants') {
    const text = `select ${grantColumns.join(', ')} from grants order by customer_id, id`;
    return { text, values: [], recordOf: grantRecord };
  }
  if (kind === 'balances') {
    const text = 'select record from balances order by customer_id, id';
    return { text, values: [], recordOf: ([record]) => record as string };
  }
  const text = 'select record from brands where partner_id = $1 order by id';
  // A brand without an image has a placeholder, which each instance replaces. It is no part of the record.
  return { text, values: [partnerId], recordOf: ([record]) => (record as string).replace(placeholder, '') };
}

function grantRecord(values: readonly unknown[]): string {
  const fields = grantColumns.map((field, index) => [field, values[index] ?? undefined]);
  return JSON.stringify(Object.fromEntries(fields));
}

const placeholder = new RegExp(`,"profile_image_url":"${publicAddressMark}[^"]*"`);
