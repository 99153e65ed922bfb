import { cursorsBounds } from '../bounds/cursors.ts';
import { doctorBounds } from '../bounds/doctor.ts';
import { failed, ok, warning } from '../lib/finding.ts';
import { toTime } from '../lib/times.ts';
import type { ExpiringKey } from '../store/inspection.ts';
import { insideSchema } from './check.ts';

const dayMs = 86_400_000;
const days = doctorBounds.expiryWarningMs / dayMs;

export const checkKeys = insideSchema(async (inspection, { nowMs }) => {
  const now = nowMs();
  const keys = await inspection.keysExpiring(toTime(now), toTime(now + doctorBounds.expiryWarningMs));
  if (keys.count === 0) return ok(`No key expires within ${days} days.`);
  const more = keys.count - keys.first.length;
  const listed = [...keys.first.map(described), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  const detail = `${keys.count === 1 ? '1 key expires' : `${keys.count} keys expire`} within ${days} days`;
  if (keys.unreplaced === 0) return ok(`${detail}, and a newer one is in place: ${listed}.`);
  return warning(
    `${detail}: ${listed}.`,
    'Replace each in time with "partner-network keys rotate KEY_ID", and hand the new key to the partner.',
  );
});

function described({ id, partner_id, name, expires_at, isReplaced }: ExpiringKey): string {
  const called = name === null ? '' : ` "${name}"`;
  return `${id}${called} of ${partner_id}, ${expires_at}${isReplaced ? ' (replaced)' : ''}`;
}

export const checkCursorKeys = insideSchema(async (inspection, { nowMs }) => {
  const newest = await inspection.newestCursorKey();
  const rotate = '"partner-network cursor-key rotate"';
  if (newest === undefined) {
    return failed('There is no key to seal cursors with, and nothing is served.', `Make one with ${rotate}.`);
  }
  const ageMs = nowMs() - Date.parse(newest);
  // The database's clock may be slightly ahead of ours; such a key seals soon.
  if (ageMs < -cursorsBounds.cursorKeySettleMs) {
    return warning(
      `The newest key of cursors is of ${newest}, which is yet to come: until then no rotation takes effect.`,
      `See that the clock of the database is right, then begin anew with ${rotate} and --discard-old.`,
    );
  }
  const detail = `The newest key of cursors is ${Math.max(0, Math.floor(ageMs / dayMs))} days old.`;
  if (ageMs <= cursorsBounds.cursorKeyAgeMs) return ok(detail);
  return warning(detail, `Replace it with ${rotate}: cursors of before are good until they expire.`);
});
