import { doctorBounds } from '../bounds/doctor.ts';
import { type Finding, failed, ok, warning } from '../lib/finding.ts';
import type { ClockReading } from '../store/inspection.ts';
import { insideDatabase } from './examination.ts';

export const checkClock = insideDatabase(async (inspection, { nowMs }) => {
  const reading = await inspection.clock(nowMs);
  return reading === undefined ? ok("The database has this machine's clock.") : judge(reading);
});

const remedy = 'Let both machines keep time by NTP (timedatectl shows whether this one does).';

/** The clocks are surely apart, surely together, or so far away that it cannot be said. */
export function judge({ aheadMs, unsureMs }: ClockReading): Finding {
  const apartMs = Math.abs(aheadMs);
  const limit = seconds(doctorBounds.clockSkewMs);
  if (apartMs - unsureMs > doctorBounds.clockSkewMs) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    const what = `This machine's clock is ${seconds(apartMs)} ${side} the database's`;
    return failed(`${what}: keys and grants would expire at the wrong time.`, remedy);
  }
  if (apartMs + unsureMs > doctorBounds.clockSkewMs) {
    const what = `The database takes ${seconds(unsureMs * 2)} to answer`;
    return warning(`${what}, too long to tell whether the clocks are within ${limit}.`, remedy);
  }
  return ok(`This machine's clock and the database's are within ${limit}.`);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
}
