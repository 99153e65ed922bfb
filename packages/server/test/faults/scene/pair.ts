/** A primary and its standby, who can change places. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  connectTo,
  type PostgresServer,
  startPostgres,
  startStandby,
} from '../../../../testkit/servers/postgres.ts';
import { fill } from './under-load.ts';

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
}

export async function startPair(t: TestContext): Promise<Pair> {
  const primary = await startPostgres(t);
  await fill(primary.url());
  return { primary, standby: await startStandby(t, primary) };
}

/** One database under the addresses of several servers. */
export function urlOf(...servers: PostgresServer[]): string {
  return `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`;
}

/** A primary that was stopped becomes the standby of the one that was promoted in its place. */
export async function follow(former: PostgresServer, primary: PostgresServer): Promise<void> {
  const from = `host=127.0.0.1 port=${primary.port} user=postgres`;
  appendFileSync(join(former.folder, 'postgresql.conf'), `primary_conninfo = '${from}'\n`);
  writeFileSync(join(former.folder, 'standby.signal'), '');
  await former.start();
}

/** Marks a server's data, so that an answer tells where it comes from. */
export async function rename(t: TestContext, server: PostgresServer, name: string): Promise<void> {
  const client = await connectTo(t, server.url());
  await client.query(`update brands set name = $1 where partner_id = 'acme' and id = 'b1'`, [name]);
}

/** Ends connections that the service has to a server: all of them, or the newest. */
export async function hangUpOnService(
  t: TestContext,
  server: PostgresServer,
  newest: number | null = null,
): Promise<void> {
  const client = await connectTo(t, server.url());
  await client.query(
    `select pg_terminate_backend(pid) from (
      select pid from pg_stat_activity where application_name like 'partner-network serve %'
      order by backend_start desc limit $1
    ) as ours`,
    [newest],
  );
}
