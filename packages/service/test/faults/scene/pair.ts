/** A primary and its standby, which can change places. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connectTo, type PostgresServer, startStandby } from '../../../../testkit/servers/postgres.ts';
import { startFilled } from './under-load.ts';

export async function startPair(
  t: TestContext,
): Promise<{ primary: PostgresServer; standby: PostgresServer }> {
  const primary = await startFilled(t);
  return { primary, standby: await startStandby(t, primary) };
}

/** An address that names several servers. */
export function urlOf(...servers: PostgresServer[]): string {
  return `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`;
}

/** Starts a stopped primary as the standby of the server that was promoted in its place. */
export async function follow(former: PostgresServer, primary: PostgresServer): Promise<void> {
  const from = `host=127.0.0.1 port=${primary.port} user=postgres`;
  appendFileSync(join(former.folder, 'postgresql.conf'), `primary_conninfo = '${from}'\n`);
  writeFileSync(join(former.folder, 'standby.signal'), '');
  await former.start();
}

/** Renames the first brand, so that an answer shows which server it is from. */
export async function rename(t: TestContext, server: PostgresServer, name: string): Promise<void> {
  const client = await connectTo(t, server.url());
  await client.query(`update brands set name = $1 where partner_id = 'acme' and id = 'b1'`, [name]);
}

/** Ends all connections of the service to a server, or only this number of the newest. */
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
