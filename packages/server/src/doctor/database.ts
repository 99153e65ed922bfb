import type { Environment } from '@partner-network/contract/environments';
import { doctorBounds } from '../bounds/doctor.ts';
import { type Finding, failed, ok, warning } from '../lib/finding.ts';
import type { Inspection } from '../store/inspection.ts';
import { type Fault, faultOfEnvironment, faultOfOldVersion, faultOfVersion } from '../store/sql/schema.ts';

export function checkEnvironment(stamped: unknown, environment: Environment): Finding {
  const fault = faultOfEnvironment(stamped, environment);
  return fault === undefined ? ok(`It is a ${environment} database.`) : failedBy(fault);
}

export async function checkSchema({ stamp, engine, currentVersion: current }: Inspection): Promise<Finding> {
  const version = (await stamp())?.version ?? 0;
  if (engine === 'sqlite' && version < current) {
    return ok(`It has schema ${version}, and gets schema ${current} when it is served.`);
  }
  const fault = faultOfVersion({ version }, current) ?? faultOfOldVersion(version, current);
  return fault === undefined ? ok(`It has schema ${version}, the current one.`) : failedBy(fault);
}

/** Reports a reason for which `serve` would refuse to start. */
export function failedBy({ fact, remedy }: Fault): Finding {
  return failed(`${fact}.`, `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`);
}

/** The server reads its clock between question and answer. */
export async function checkClock({ engine, rows }: Inspection, nowMs: () => number): Promise<Finding> {
  if (engine === 'sqlite') return ok("The database has this machine's clock.");
  const askedMs = nowMs();
  const [read] = await rows('select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms');
  const unsureMs = (nowMs() - askedMs) / 2;
  return judgeClock(askedMs + unsureMs - Number(read!.now_ms), unsureMs);
}

/** How far this machine's clock is ahead of the database's; this may be wrong by `unsureMs` either way. */
export function judgeClock(aheadMs: number, unsureMs: number): Finding {
  const remedy = 'Let both machines keep time by NTP (timedatectl shows whether this one does).';
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
