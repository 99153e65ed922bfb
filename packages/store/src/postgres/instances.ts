import type { Sql } from '../sql/statement.ts';

/** The `application_name` of every instance that serves a Postgres database begins with this. */
export const instancePrefix = 'partner-network serve ';

/** Counts the instances that serve this database, without the one named $2. $1 is the prefix. */
const countInstances = `
  select count(distinct application_name)::integer as count from pg_stat_activity
  where datname = current_database() and starts_with(application_name, $1) and application_name <> $2`;

/** Every role may see the `application_name` of a connection. */
export async function instancesBeside(rows: Sql['rows'], instance = ''): Promise<number> {
  const [counted] = await rows(countInstances, instancePrefix, `${instancePrefix}${instance}`);
  return Number(counted!.count);
}
