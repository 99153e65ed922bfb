import { doctorBounds } from '../bounds/doctor.ts';
import { asOne, type Finding, failed, ok, warning } from '../lib/finding.ts';
import { databaseConfig } from '../serve/settings.ts';
import type { ClockReading } from '../store/inspection.ts';
import { type Fault, faultOfEnvironment, faultOfOldVersion, faultOfVersion } from '../store/sql/schema.ts';
import { type Check, insideDatabase, insideSchema } from './check.ts';

export const checkDatabase: Check = async ({ database }) => (await database).finding;

export const checkEnvironment = insideSchema(async (_inspection, { config }, stamp) => {
  const { environment } = databaseConfig(config);
  const fault = faultOfEnvironment(stamp.environment, environment);
  return fault === undefined ? ok(`It is a ${environment} database.`) : failedBy(fault);
});

export const checkSchema = insideDatabase(async (inspection) => {
  const { currentVersion: current, migratesItself } = inspection;
  const version = (await inspection.stamp())?.version ?? 0;
  if (migratesItself && version < current) {
    return ok(`It has schema ${version}, and gets schema ${current} when it is served.`);
  }
  const fault = faultOfVersion({ version }, current) ?? faultOfOldVersion(version, current);
  return fault === undefined ? ok(`It has schema ${version}, the current one.`) : failedBy(fault);
});

export const checkPrivileges = insideDatabase((inspection) => inspection.privileges());

export const checkReplicas: Check = async ({ replicas }) => {
  const findings = await replicas;
  return findings.length === 0 ? ok('None are set.') : asOne(findings);
};

export const checkClock = insideDatabase(async (inspection, { nowMs }) => {
  const reading = await inspection.clock(nowMs);
  return reading === undefined ? ok("The database has this machine's clock.") : judgeClock(reading);
});

/** The clocks are apart, together, or the database answers too slowly to know. */
export function judgeClock({ aheadMs, unsureMs }: ClockReading): Finding {
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

/** Reports a reason for which `serve` would refuse to start. */
export function failedBy({ fact, remedy }: Fault): Finding {
  return failed(`${fact}.`, `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`);
}
