import { DatabaseError } from 'pg';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';
import { constraintTests } from '../suite/constraints.ts';

/** SQLSTATE classes of a value that does not fit its type, and of a row that breaks a constraint. */
const refusals = ['22', '23'];

constraintTests({
  open: async (t) => {
    const client = await connectTo(t, await migratedDatabase(t));
    return { execute: async (statement, ...values) => (await client.query(statement, values)).rows };
  },
  isRefusal: (error) =>
    error instanceof DatabaseError && refusals.some((known) => error.code?.startsWith(known)),
  // No times, or times that the API cannot write.
  badTimes: [
    ...['', 'garbage', 'infinity', '-infinity', '2026-04-31T00:00:00.000Z', '2026-13-01T00:00:00.000Z'],
    ...['10000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59.000-01:00'],
    ...['0000-01-01T00:00:00.000Z', '0001-12-31 23:59:59.999Z BC', '0001-01-01T00:00:00.000+01:00'],
  ],
  badBytes: [],
  tamperings: [
    ...['truncate audit_log', 'truncate partners, audit_log cascade'],
    `insert into audit_log (seq, at, actor, action, target, details) overriding system value
      select seq, at, 'bob', action, target, details
      from audit_log on conflict (seq) do update set actor = 'bob'`,
    `merge into audit_log using partners on true when matched then update set actor = 'bob'`,
    `with gone as (delete from audit_log returning *) select * from gone`,
  ],
});
