import { type Finding, failed, ok } from '../lib/finding.ts';
import { databaseConfig } from '../serve/settings.ts';
import { type Fault, faultOfEnvironment, faultOfOldVersion, faultOfVersion } from '../store/sql/schema.ts';
import { type Check, insideDatabase, insideOurDatabase } from './examination.ts';

export const checkDatabase: Check = async ({ database }) => (await database).finding;

export const checkEnvironment = insideOurDatabase(async ({ stamp }, { config }) => {
  const { environment } = databaseConfig(config);
  const fault = faultOfEnvironment(stamp.environment, environment);
  return fault === undefined ? ok(`It is a ${environment} database.`) : failedBy(fault);
});

export const checkSchema = insideDatabase(async (inspection) => {
  const stamp = await inspection.stamp();
  const { currentVersion: current, migratesItself } = inspection;
  const version = stamp?.version ?? 0;
  const isMadeByServing = migratesItself && version < current;
  if (isMadeByServing) return ok(`It has schema ${version}, and gets schema ${current} when it is served.`);
  const fault = faultOfVersion({ version }, current) ?? faultOfOldVersion(version, current);
  return fault === undefined ? ok(`It has schema ${version}, the current one.`) : failedBy(fault);
});

export const checkPrivileges = insideDatabase((inspection) => inspection.privileges());

/** The sentence of a refusal in its two halves. */
export function failedBy({ fact, remedy }: Fault): Finding {
  return failed(`${fact}.`, `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`);
}
