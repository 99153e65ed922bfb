import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import { doctorBounds } from '../../../bounds/doctor.ts';
import { postgresBounds } from '../../../bounds/postgres.ts';
import { type Finding, failed, ok, warning } from '../../../lib/finding.ts';
import { type Primary, searchPrimary } from '../connections/connect.ts';
import { addressOf, Connection } from '../connections/connection.ts';
import { unreachable } from '../connections/errors.ts';
import { positionOf } from '../connections/replicas.ts';
import { examine, examineReplica } from '../connections/server.ts';
import { replayed, type Statement, written } from '../statements.ts';
import { remedyOf } from './inspect.ts';

/** One finding for each replica. */
export async function inspectStandbys(
  primaryUrls: readonly string[],
  urls: readonly string[],
  environment: Environment,
): Promise<readonly Finding[]> {
  const { primary } = await searchPrimary(primaryUrls);
  try {
    return await Promise.all(urls.map((url) => inspectStandby(url, environment, primary)));
  } finally {
    primary?.connection.abandon();
  }
}

async function inspectStandby(
  url: string,
  environment: Environment,
  primary: Primary | undefined,
): Promise<Finding> {
  const address = addressOf(url);
  let connection: Connection | undefined;
  try {
    connection = new Connection({ connectionString: url });
    await connection.connect();
  } catch (error) {
    connection?.abandon();
    const { message, code } = error as NodeJS.ErrnoException;
    return failed(`The replica at ${address} cannot be reached (${message || code}).`, remedyOf(code));
  }
  try {
    if (primary === undefined) {
      await examine(connection, 'standby', environment);
      return ok(`${address} is a standby, of whatever primary.`);
    }
    await examineReplica(connection, environment, primary.server);
    return await judgeLag(address, connection, primary.connection);
  } catch (error) {
    const remedy = 'Name a streaming standby of this very database in --replica, or leave it out.';
    return failed(`${address}: ${unreachable(error).message}`, remedy);
  } finally {
    connection.abandon();
  }
}

/** The lag is the time that the standby takes to replay up to the primary's current position. */
async function judgeLag(address: string, standby: Connection, primary: Connection): Promise<Finding> {
  const before = await positionOn(standby, replayed);
  const goal = await positionOn(primary, written);
  if (before > goal) {
    const remedy = 'It follows a primary that was replaced: copy it anew from this one.';
    return failed(`The replica at ${address} is ahead of the primary.`, remedy);
  }
  const startedMs = performance.now();
  while ((await positionOn(standby, replayed)) < goal) {
    if (performance.now() - startedMs > postgresBounds.replicaLagMs) {
      return warning(
        `The replica at ${address} is more than ${postgresBounds.replicaLagMs / 1_000} s behind, and so not read from.`,
        'See that it streams (pg_stat_wal_receiver on it), that replay is not paused, and what it is busy with.',
      );
    }
    await wait(doctorBounds.doctorLagMs);
  }
  return ok(`${address} is less than ${postgresBounds.replicaLagMs / 1_000} s behind.`);
}

async function positionOn(connection: Connection, { text }: Statement): Promise<bigint> {
  const query = { text, query_timeout: postgresBounds.replicaAnswerMs };
  return positionOf((await connection.query(query)).rows);
}
