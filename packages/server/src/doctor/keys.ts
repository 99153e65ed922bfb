import { cursorsBounds } from '../bounds/cursors.ts';
import { doctorBounds } from '../bounds/doctor.ts';
import { type Finding, failed, ok, warning } from '../lib/finding.ts';
import { toTime } from '../lib/times.ts';
import type { Inspection } from '../store/inspection.ts';
import { expiringKeys } from '../store/sql/keys.ts';

const dayMs = 86_400_000;

export async function checkKeys({ rows }: Inspection, nowMs: number): Promise<Finding> {
  const within = `within ${doctorBounds.expiryWarningMs / dayMs} days`;
  const found = await rows(expiringKeys, toTime(nowMs), toTime(nowMs + doctorBounds.expiryWarningMs));
  if (found[0] === undefined) return ok(`No key expires ${within}.`);
  const count = Number(found[0].count);
  const listed = found.map(({ id, partner_id, name, expires_at, is_replaced }) => {
    const called = name === null ? '' : ` "${name}"`;
    return `${id}${called} of ${partner_id}, ${expires_at}${is_replaced === 1 ? ' (replaced)' : ''}`;
  });
  if (count > found.length) listed.push(`and ${count - found.length} more`);
  const expire = `${count === 1 ? '1 key expires' : `${count} keys expire`} ${within}`;
  // Keys without a replacement come first.
  if (found[0].is_replaced === 1) return ok(`${expire}, and a newer key exists: ${listed.join('; ')}.`);
  return warning(
    `${expire}: ${listed.join('; ')}.`,
    'Replace each key with "partner-network keys rotate KEY_ID", and give the new key to the partner.',
  );
}

export async function checkCursorKeys({ rows }: Inspection, nowMs: number): Promise<Finding> {
  const [newest] = await rows('select max(created_at) as created_at from cursor_keys');
  const createdAt = newest!.created_at as string | null;
  const rotate = '"partner-network cursor-key rotate"';
  if (createdAt === null) {
    return failed('There is no cursor key, so serve cannot start.', `Create one with ${rotate}.`);
  }
  const ageMs = nowMs - Date.parse(createdAt);
  // The database's clock may be slightly ahead of our clock: then the key seals soon.
  if (ageMs < -cursorsBounds.cursorKeySettleMs) {
    return warning(
      `The newest cursor key has a future time, ${createdAt}. Until then, no rotation takes effect.`,
      'Correct the clock of the database, then run "partner-network cursor-key rotate --discard-old".',
    );
  }
  const detail = `The newest cursor key is ${Math.max(0, Math.floor(ageMs / dayMs))} days old.`;
  if (ageMs <= cursorsBounds.cursorKeyAgeMs) return ok(detail);
  return warning(detail, `Replace it with ${rotate}. Existing cursors stay valid until they expire.`);
}
