import { type ExportSelection, publicAddressMark } from '../port.ts';

/** What an export reads, in the order of the primary key, and how a row of it becomes a record's JSON. */
interface ExportQuery {
  readonly text: string;
  readonly values: readonly string[];
  readonly recordOf: (row: readonly unknown[]) => string;
}

/** Brands and balances are stored as they are sent; grants are not sent, and rendered here. */
export function exportQuery({ kind, partnerId }: ExportSelection): ExportQuery {
  if (kind === 'grants') {
    const text = `select ${grantFields.join(', ')} from grants order by customer_id, id`;
    return { text, values: [], recordOf: grantRecord };
  }
  if (kind === 'balances') {
    const text = 'select record from balances order by customer_id, id';
    return { text, values: [], recordOf: ([record]) => record as string };
  }
  const text = 'select record from brands where partner_id = $1 order by id';
  return { text, values: [partnerId], recordOf: ([record]) => withoutPlaceholder(record as string) };
}

const grantFields = [
  ...['id', 'partner_id', 'customer_id', 'action', 'status', 'expires_at', 'created_at', 'updated_at'],
];

function grantRecord(values: readonly unknown[]): string {
  const fields = grantFields.map((field, index) => [field, values[index] ?? undefined]);
  return JSON.stringify(Object.fromEntries(fields));
}

const placeholder = new RegExp(`,"profile_image_url":"${publicAddressMark}[^"]*"`);

/** A brand without an image has none in the file either: whoever answers puts the placeholder there. */
function withoutPlaceholder(record: string): string {
  return record.replace(placeholder, '');
}
