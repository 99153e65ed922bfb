import { doctorBounds } from '../../../bounds/doctor.ts';
import { type Finding, failed, ok, warning } from '../../../lib/finding.ts';
import type { ClockReading, Inspected, Inspection } from '../../inspection.ts';
import type { Sql } from '../../sql/accounts.ts';
import { newestCursorKey } from '../../sql/cursor-keys.ts';
import { expiringKeys } from '../../sql/keys.ts';
import { type SearchResult, searchPrimary, withoutPrimary } from '../connections/connect.ts';
import { addressOf, type Connection, instancePrefix } from '../connections/connection.ts';
import { translated } from '../connections/errors.ts';
import { ours, stampOf, traitsOf, unfitness } from '../migrate.ts';
import { privilegesOf } from './privileges.ts';

/** What to do if a server cannot be reached, by SQLSTATE, its class, or the operating system's error code. */
const remedies: readonly [code: string, remedy: string][] = [
  ['28P01', 'Correct the password: in the URL, PGPASSWORD or the password file.'],
  ['28', "Correct the user in the URL, or let it in by the server's pg_hba.conf."],
  ['3D000', 'Create the database, or correct its name at the end of the URL.'],
  ['42501', 'Grant the role the right to connect to the database.'],
  ['53300', "Raise the server's max_connections, or lower --connections and --workers."],
  ['57P03', 'Wait until the server has started.'],
  ['ECONNREFUSED', 'Start the server, or correct host and port of the URL.'],
  ['ENOTFOUND', 'Correct the host of the URL.'],
  ['EAI_AGAIN', 'Correct the host of the URL, or see to the name server.'],
  ['ENOENT', 'Correct the path of the certificate or key in the URL.'],
];

export function remedyOf(code: string | undefined): string {
  const known = remedies.find(([prefix]) => code?.startsWith(prefix));
  return known?.[1] ?? 'Correct the URL, or see to the server and to the way to it: firewall, TLS, proxy.';
}

export async function inspectPostgres(urls: readonly string[]): Promise<Inspected> {
  const result = await searchPrimary(urls);
  const away = result.misses.filter(({ isStandby }) => !isStandby);
  if (result.primary === undefined) {
    const remedy = away[0] === undefined ? 'Name the primary in --database.' : remedyOf(away[0].code);
    return { finding: failed(withoutPrimary(result).message, remedy) };
  }
  const { connection, url } = result.primary;
  try {
    const traits = await readOnly(connection, () => traitsOf(connection));
    const unfit = unfitness(traits);
    const finding =
      unfit === undefined
        ? reached(`Postgres ${traits.version_name} at ${addressOf(url)}`, away)
        : failed(`${unfit.fact}.`, `Instead, ${unfit.remedy}.`);
    return { finding, inspection: inspectionOf(connection) };
  } catch (error) {
    connection.abandon();
    return { finding: failed((error as Error).message, remedyOf(undefined)) };
  }
}

/** `away` are the other addresses of the database that cannot be reached. */
function reached(title: string, away: SearchResult['misses']): Finding {
  if (away[0] === undefined) return ok(`${title} is reached.`);
  const where = away.map(({ address, reason }) => `${address} (${reason})`).join(', ');
  return warning(
    `${title} is reached, but there is nothing to fail over to at ${where}.`,
    remedyOf(away[0].code),
  );
}

function inspectionOf(connection: Connection): Inspection {
  const rows: Sql['rows'] = async (text, ...values) => (await connection.query(text, values)).rows;
  return {
    stamp: () => readOnly(connection, () => stampOf(connection)),
    currentVersion: ours.current,
    migratesItself: false,
    privileges: () => readOnly(connection, () => privilegesOf(connection)),
    clock: (nowMs) => readOnly(connection, () => readClock(connection, nowMs)),
    instances: () => readOnly(connection, () => countInstances(connection)),
    keysExpiring: (after, until) => readOnly(connection, () => expiringKeys(rows, after, until)),
    newestCursorKey: () => readOnly(connection, () => newestCursorKey(rows)),
    close: () => connection.leave(),
  };
}

/** Runs the work in a read-only transaction with timeouts, and ends the transaction even if it fails. */
async function readOnly<Result>(connection: Connection, work: () => Promise<Result>): Promise<Result> {
  // If the server does not answer in time, this and all later questions fail.
  const timer = setTimeout(() => connection.abandon(), doctorBounds.doctorAnswerMs);
  try {
    // `pg` parses times in ISO style only.
    await connection.query(
      `begin read only; set local statement_timeout = ${doctorBounds.doctorStatementMs}; set local datestyle = 'ISO'`,
    );
    return await work();
  } catch (error) {
    throw translated(error);
  } finally {
    await connection.query('rollback').catch(() => {});
    clearTimeout(timer);
  }
}

/** The server reads its clock between question and answer: the quickest of a few answers is most exact. */
async function readClock(connection: Connection, nowMs: () => number): Promise<ClockReading> {
  const readings: ClockReading[] = [];
  for (let look = 0; look < doctorBounds.doctorClockLooks; look += 1) {
    const askedMs = nowMs();
    const { rows } = await connection.query(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms',
    );
    const unsureMs = (nowMs() - askedMs) / 2;
    readings.push({ aheadMs: askedMs + unsureMs - rows[0].now_ms, unsureMs });
  }
  return readings.reduce((best, reading) => (reading.unsureMs < best.unsureMs ? reading : best));
}

/** Counts `application_name`s, which every role may see. */
async function countInstances(connection: Connection): Promise<number> {
  const { rows } = await connection.query(
    `select count(distinct application_name)::integer as count from pg_stat_activity
    where datname = current_database() and starts_with(application_name, $1)`,
    [instancePrefix],
  );
  return rows[0].count;
}
