import { randomBytes } from 'node:crypto';
import { type RoleName, statementsOf } from '../../store/src/postgres/roles.ts';
import type { Lifetime } from '../fixtures/lifetime.ts';
import { connectTo } from './postgres.ts';
import { afterAllElse } from './postgres-start.ts';

/** The address for a person in this role. Roles belong to the whole server, so each test has its own. */
export async function urlInRole(t: Lifetime, url: string, role: RoleName): Promise<string> {
  const [group, person] = ['group', 'person'].map((kind) => `pn_${kind}_${randomBytes(8).toString('hex')}`);
  const owner = await connectTo(t, url);
  // If the server requires a password, the role gets the password of the URL.
  const password = decodeURIComponent(new URL(url).password).replaceAll("'", "''");
  const { rowCount } = await owner.query(`select from pg_extension where extname = 'citus'`);
  const statements = statementsOf(role, rowCount === 1);
  for (const statement of statements) await owner.query(statement.replaceAll(role, group!));
  await owner.query(`create role ${person} login password '${password}' in role ${group}`);
  afterAllElse(t, async () => {
    const place = Object.assign(new URL(url), { pathname: 'postgres' }).href;
    const last = await connectTo({ after: () => {} }, place);
    await last.query(`drop role ${person}`);
    await last.query(`drop role ${group}`);
    await last.end();
  });
  return Object.assign(new URL(url), { username: person }).href;
}
