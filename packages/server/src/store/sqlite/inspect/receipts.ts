import { existsSync } from 'node:fs';
import { type Finding, failed } from '../../../lib/finding.ts';
import { Refused, type Stamp } from '../../sql/schema.ts';
import { openToLook, receiptsFileOf } from '../file.ts';
import { receiptsSchema, stampOf } from '../migrate.ts';
import { mayWrite } from '../place.ts';

const replace =
  'Put a backup in its place, or move it away with what stands beside it: serving makes another.';

/**
 * What keeps serving from the receipts beside a database of this environment. Where there are none it makes
 * them; whether it may read and write them is told with the privileges.
 */
export function faultyReceipts(database: string, environment: unknown): Finding | undefined {
  const path = receiptsFileOf(database);
  if (!existsSync(path) || !mayWrite(path)) return undefined;
  const cannot = (reason: string, remedy: string) =>
    failed(`Cannot open the receipts ${path}: ${reason}.`, remedy);
  try {
    const stamp = stampIn(path);
    if (stamp === undefined) return undefined;
    if (stamp.version > receiptsSchema.current) {
      const known = `this program knows up to ${receiptsSchema.current}`;
      return cannot(`they have schema ${stamp.version} and ${known}`, 'Run the newer program.');
    }
    if (stamp.environment === environment) return undefined;
    return cannot(`they are of ${stamp.environment}, and the database of ${environment}`, replace);
  } catch (error) {
    return cannot(error instanceof Refused ? error.fault.fact : (error as Error).message, replace);
  }
}

function stampIn(path: string): Stamp | undefined {
  const db = openToLook(path);
  try {
    return stampOf(db, receiptsSchema);
  } finally {
    db.close();
  }
}
