import { doctorBounds } from '../../../bounds/doctor.ts';
import { type Finding, failed, ok, warning } from '../../../lib/finding.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { ClockReading, Inspected, Inspection } from '../../inspection.ts';
import type { Sql } from '../../sql/accounts.ts';
import { newestCursorKey } from '../../sql/cursor-keys.ts';
import { expiringKeys } from '../../sql/expiring-keys.ts';
import { type Looks, lookForPrimary, withoutPrimary } from '../connections/connect.ts';
import { addressOf, type Connection, instancePrefix } from '../connections/connection.ts';
import { translated } from '../connections/errors.ts';
import { ours, stampOf, traitsOf, unfitness } from '../migrate.ts';
import { privilegesOf } from './privileges.ts';
import { remedyOf } from './remedies.ts';

export async function inspectPostgres(urls: readonly string[]): Promise<Inspected> {
  const looks = await lookForPrimary(urls);
  if (looks.primary === undefined) return { finding: unreached(looks) };
  const { client, url } = looks.primary;
  try {
    const traits = await readOnly(client, () => traitsOf(client));
    const title = `Postgres ${traits.version_name} at ${addressOf(url)}`;
    const unfit = unfitness(traits);
    const finding =
      unfit === undefined ? reached(title, looks) : failed(`${unfit.fact}.`, `Instead, ${unfit.remedy}.`);
    return { finding, inspection: inspectionOf(client) };
  } catch (error) {
    client.abandon();
    return { finding: failed((error as Error).message, remedyOf(undefined)) };
  }
}

function unreached(looks: Looks): Finding {
  const fault = looks.misses.find(({ isStandby }) => !isStandby);
  const remedy = fault === undefined ? 'Name the primary in --database.' : remedyOf(fault.code);
  return failed(withoutPrimary(looks).message, remedy);
}

function reached(title: string, { misses }: Looks): Finding {
  const away = misses.filter(({ isStandby }) => !isStandby);
  if (away.length === 0) return ok(`${title} is reached.`);
  const where = away.map(({ address, reason }) => `${address} (${reason})`).join(', ');
  return warning(
    `${title} is reached, but there is nothing to fail over to at ${where}.`,
    remedyOf(away[0]!.code),
  );
}

function inspectionOf(client: Connection): Inspection {
  const rows: Sql['rows'] = async (text, ...values) => (await client.query(text, values)).rows;
  return {
    stamp: () => readOnly(client, () => stampOf(client)),
    currentVersion: ours.current,
    migratesItself: false,
    privileges: () => readOnly(client, () => privilegesOf(client)),
    clock: (nowMs) => readOnly(client, () => readClock(client, nowMs)),
    instances: () => readOnly(client, () => countInstances(client)),
    keysExpiring: (after, until) => readOnly(client, () => expiringKeys(rows, after, until)),
    newestCursorKey: () => readOnly(client, () => newestCursorKey(rows)),
    close: () => client.leave(),
  };
}

/** Work that can change nothing, and takes only so long. One that fails does not keep the next from it. */
async function readOnly<Result>(client: Connection, work: () => Promise<Result>): Promise<Result> {
  // A server can fall silent at any time, and is asked nothing more then.
  const patience = setTimeout(() => client.abandon(), doctorBounds.doctorAnswerMs);
  try {
    // The driver reads times in this style, whatever the database's own is.
    await client.query(
      `begin read only; set local statement_timeout = ${doctorBounds.doctorStatementMs}; set local datestyle = 'ISO'`,
    );
    return await work();
  } catch (error) {
    throw error instanceof OperatorError ? error : translated(error);
  } finally {
    await client.query('rollback').catch(() => {});
    clearTimeout(patience);
  }
}

/** The server told its time somewhere between question and answer: of a few looks, the quickest counts. */
async function readClock(client: Connection, nowMs: () => number): Promise<ClockReading> {
  const readings: ClockReading[] = [];
  for (let look = 0; look < doctorBounds.doctorClockLooks; look += 1) {
    const askedMs = nowMs();
    const { rows } = await client.query(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms',
    );
    const unsureMs = (nowMs() - askedMs) / 2;
    readings.push({ aheadMs: askedMs + unsureMs - rows[0].now_ms, unsureMs });
  }
  return readings.reduce((best, reading) => (reading.unsureMs < best.unsureMs ? reading : best));
}

/** Every role sees the names of all connections, though not what they do. */
async function countInstances(client: Connection): Promise<number> {
  const { rows } = await client.query(
    `select count(distinct application_name)::integer as count from pg_stat_activity
    where datname = current_database() and starts_with(application_name, $1)`,
    [instancePrefix],
  );
  return rows[0].count;
}
