/** Stored records as lines: for an export, and for the undo file that takes an import back. */
import { fsyncSync, writeFileSync } from 'node:fs';
import { OperatorError } from '@partner-network/common/errors';
import { type ExportSelection, publicAddressMark } from '../port.ts';
import { grantColumns } from './grants.ts';
import { importColumns, type RecordKind } from './imports.ts';
import type { Row } from './statement.ts';

type Values = readonly unknown[];

/**
 * Selects rows in the order of the primary key. `recordOf` turns a row into the record's JSON: brands and
 * balances are stored as JSON, grants and erasures are never sent to partners and so are not.
 */
export function exportQuery({ kind, partnerId }: ExportSelection) {
  if (kind === 'grants') return ofColumns(grantColumns, 'grants', 'customer_id, id');
  if (kind === 'erasures') return ofColumns('customer_id, erased_at', 'erased_customers', 'customer_id');
  if (kind === 'balances') {
    const text = 'select record from balances order by customer_id, id';
    return { text, values: [], recordOf: ([record]: Values) => record as string };
  }
  if (partnerId !== undefined) {
    const text = 'select record from brands where partner_id = $1 order by id';
    return { text, values: [partnerId], recordOf: ([record]: Values) => withoutPlaceholder(record) };
  }
  const text = 'select partner_id, record from brands order by partner_id, id';
  return { text, values: [], recordOf: ([owner, record]: Values) => recordLine(kind, owner, record) };
}

function ofColumns(columns: string, table: string, order: string) {
  const names = columns.split(', ');
  const recordOf = (values: Values) => {
    const entries = names.map((column, index) => [column, values[index] ?? undefined]);
    return JSON.stringify(Object.fromEntries(entries));
  };
  return { text: `select ${columns} from ${table} order by ${order}`, values: [], recordOf };
}

/** The line of a stored brand or balance. The record of a brand lacks its owner. */
function recordLine(kind: ExportSelection['kind'], owner: unknown, record: unknown): string {
  if (kind === 'balances') return record as string;
  return `{"partner_id":${JSON.stringify(owner)},${withoutPlaceholder(record).slice(1)}`;
}

/** A brand without an image has a placeholder, which each instance replaces. It is not part of the record. */
function withoutPlaceholder(record: unknown): string {
  return (record as string).replace(placeholder, '');
}

const placeholder = new RegExp(`,"profile_image_url":"${publicAddressMark}[^"]*"`);

/**
 * The time of deletions in an undo file. Older than every record, so that they have an effect with
 * --overwrite only: an undo file of an import that was never committed does no harm.
 */
const longAgo = '0001-01-01T00:00:00.000Z';

/** Turns rows of owner, id and old record into lines for an import with --overwrite. */
export function undoLines(kind: RecordKind, rows: readonly Row[]): string {
  const [owner] = importColumns[kind].identity;
  return rows
    .map((row) =>
      row.record === null
        ? `${JSON.stringify({ [owner!]: row.owner, id: row.id, deleted_at: longAgo })}\n`
        : `${recordLine(kind, row.owner, row.record)}\n`,
    )
    .join('');
}

export type UndoFile = NonNullable<ReturnType<typeof undoFileOf>>;

/** The functions throw if the file cannot be written: then the import must not be committed. */
export function undoFileOf(descriptor: number | undefined) {
  if (descriptor === undefined) return undefined;
  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      throw new OperatorError(
        `Cannot write the undo file: ${(error as Error).message}. Nothing was written.`,
      );
    }
  };
  return {
    write: (lines: string) => attempt(() => writeFileSync(descriptor, lines)),
    sync: () => attempt(() => fsyncSync(descriptor)),
  };
}
