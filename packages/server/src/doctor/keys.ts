import { doctorBounds } from '../bounds/doctor.ts';
import { ok, warning } from '../lib/finding.ts';
import { toTime } from '../lib/times.ts';
import type { ExpiringKey } from '../store/inspection.ts';
import { insideOurDatabase } from './examination.ts';

const days = doctorBounds.expiryWarningMs / 86_400_000;

export const checkKeys = insideOurDatabase(async ({ inspection }, { nowMs }) => {
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
