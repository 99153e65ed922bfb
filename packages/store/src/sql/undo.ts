/** What takes an import back: the old content of changed records, and deletions of new ones. */
import { fsyncSync, writeFileSync } from 'node:fs';
import { OperatorError } from '@partner-network/common/errors';
import { recordLine } from './exports.ts';
import { importColumns, type RecordKind } from './imports.ts';
import type { Row } from './statement.ts';

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
