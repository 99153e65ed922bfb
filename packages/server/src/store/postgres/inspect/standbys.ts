import { setTimeout as wait } from 'node:timers/promises';
import type { Environment } from '@partner-network/contract/environments';
import { doctorBounds } from '../../../bounds/doctor.ts';
import { postgresBounds } from '../../../bounds/postgres.ts';
import { type Finding, failed, ok, warning } from '../../../lib/finding.ts';
import { lookForPrimary } from '../connections/connect.ts';
import { addressOf, Connection } from '../connections/connection.ts';
import { unreachable } from '../connections/errors.ts';
import type { Sighting } from '../connections/primary-watch.ts';
import { examine, examineReplica } from '../connections/server.ts';
import { replayed, written } from '../statements.ts';
import { remedyOf } from './remedies.ts';

export async function inspectStandbys(
  primaryUrls: readonly string[],
  urls: readonly string[],
  environment: Environment,
): Promise<readonly Finding[]> {
  const { primary } = await lookForPrimary(primaryUrls);
  try {
    return await Promise.all(urls.map((url) => inspectStandby(url, environment, primary)));
  } finally {
    primary?.client.abandon();
  }
}

async function inspectStandby(
  url: string,
  environment: Environment,
  primary: Sighting | undefined,
): Promise<Finding> {
  const address = addressOf(url);
  let client: Connection | undefined;
  try {
    client = new Connection({ connectionString: url });
    await client.connect();
  } catch (error) {
    client?.abandon();
    const { message, code } = error as NodeJS.ErrnoException;
    return failed(`The replica at ${address} cannot be reached (${message || code}).`, remedyOf(code));
  }
  try {
    if (primary === undefined) {
      await examine(client, 'standby', environment);
      return ok(`${address} is a standby, of whatever primary.`);
    }
    await examineReplica(client, environment, primary.server);
    return await judgeLag(address, client, primary.client);
  } catch (error) {
    const remedy = 'Name a streaming standby of this very database in --replica, or leave it out.';
    return failed(`${address}: ${unreachable(error).message}`, remedy);
  } finally {
    client.abandon();
  }
}

/** It is behind by as long as it takes to come to where the primary is now. */
async function judgeLag(address: string, standby: Connection, primary: Connection): Promise<Finding> {
  const before = await positionOn(standby, replayed.text);
  const goal = await positionOn(primary, written.text);
  if (before > goal) {
    const remedy = 'It follows a primary that was replaced: copy it anew from this one.';
    return failed(`The replica at ${address} is ahead of the primary.`, remedy);
  }
  const startedMs = performance.now();
  while ((await positionOn(standby, replayed.text)) < goal) {
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

async function positionOn(client: Connection, text: string): Promise<bigint> {
  const question = { text, query_timeout: postgresBounds.replicaAnswerMs };
  const { rows } = await client.query(question);
  return BigInt(rows[0].position ?? -1);
}
