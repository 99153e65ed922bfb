import { cursorsBounds } from '../bounds/cursors.ts';
import { failed, ok, warning } from '../lib/finding.ts';
import { insideOurDatabase } from './examination.ts';

const dayMs = 86_400_000;

export const checkCursorKeys = insideOurDatabase(async ({ inspection }, { nowMs }) => {
  const newest = await inspection.newestCursorKey();
  const rotate = '"partner-network cursor-key rotate"';
  if (newest === undefined) {
    return failed('There is no key to seal cursors with, and nothing is served.', `Make one with ${rotate}.`);
  }
  const ageMs = nowMs() - Date.parse(newest);
  // The database's clock may be a little ahead of ours, and such a key soon seals.
  if (ageMs < -cursorsBounds.cursorKeySettleMs) {
    return warning(
      `The newest key of cursors is of ${newest}, which is yet to come: until then no rotation takes effect.`,
      `See that the clock of the database is right, then begin anew with ${rotate} and --discard-old.`,
    );
  }
  const days = Math.max(0, Math.floor(ageMs / dayMs));
  const detail = `The newest key of cursors is ${days} days old.`;
  if (ageMs <= cursorsBounds.cursorKeyAgeMs) return ok(detail);
  return warning(detail, `Replace it with ${rotate}: cursors of before are good until they expire.`);
});
