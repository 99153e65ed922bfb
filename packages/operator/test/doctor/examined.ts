/** Runs doctor with flags as an operator gives them. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { parseLine } from '../../../common/src/command-line/parse.ts';
import type { Finding } from '../../../common/src/finding.ts';
import { startHealth } from '../../../http/src/health.ts';
import type { StoreOptions } from '../../../store/src/address.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { afterAllElse, connectTo } from '../../../testkit/servers/postgres.ts';
import { openServing } from '../../../testkit/service/database.ts';
import { watchedLog } from '../../../testkit/watch/logs.ts';
import { doctor } from '../../src/commands/doctor.ts';
import { examine } from '../../src/doctor/examine.ts';
import type { DoctorConfig } from '../../src/doctor/settings.ts';

/** In the order that scripts rely on. */
export const names = `
  settings open_files disk database environment schema privileges writes
  nodes clock replicas redis instances keys cursor_keys receipts sign_in
`
  .trim()
  .split(/\s+/);

/** The checks that need an open database. */
export const inDatabase = names.filter((name) =>
  /^(environment|schema|privileges|writes|nodes|clock|instances|keys|cursor_keys)$/.test(name),
);

/**
 * What a test cannot know: instances of the embedded database, the disk of Postgres, another process, and
 * changes with a role that may not make them or on another schema.
 */
const unknowable = ['instances', 'disk', 'receipts', 'writes'];

type Findings = Readonly<Record<string, Finding>>;
type Expected = readonly [status: Finding['status'], detail: RegExp, remedy?: RegExp];

/** The findings with these flags, and with this clock instead of the machine's. */
export async function findingsOf(
  flags: readonly string[],
  nowMs?: () => number,
  openFiles = 20_000,
): Promise<Findings> {
  // No instance listens on port 1.
  const { values, problems } = parseLine(doctor, flags, { OPS_PORT: '1' });
  assert.deepEqual(problems, []);
  const examined = await examine(values as DoctorConfig, undefined, nowMs, openFiles);
  assert.deepEqual(pluck(examined, 'name'), names);
  for (const { status, remedy } of examined) {
    assert.equal(remedy === undefined, status === 'ok' || status === 'skipped', 'a fault has a remedy');
  }
  return Object.fromEntries(examined.map(({ name, ...finding }) => [name, finding]));
}

/** The names of the checks with this status. */
export function those(findings: Findings, status: Finding['status']): string[] {
  return names.filter((name) => findings[name]!.status === status);
}

/** Asserts that only this check is not ok, and its status, detail and remedy. */
export function assertOnly(findings: Findings, name: string, ...expected: Expected): void {
  const isKnown = (other: string) => !unknowable.includes(other) || findings[other]!.status !== 'skipped';
  // These tests use the role that owns the tables.
  const isOwner = (other: string) => other !== name && / owns the tables, /.test(findings[other]!.detail);
  const others = names.filter(
    (other) => findings[other]!.status !== 'ok' && isKnown(other) && !isOwner(other),
  );
  assert.deepEqual(others, [name], JSON.stringify(findings, null, 1));
  assertFinding(findings[name]!, ...expected);
}

export function assertFinding(finding: Finding, ...[status, detail, remedy]: Expected): void {
  assert.equal(finding.status, status, finding.detail);
  assert.match(finding.detail, detail);
  if (remedy !== undefined) assert.match(finding.remedy ?? '', remedy);
}

/** Opens a Postgres database as an instance of this name does. */
export async function serveAs(t: TestContext, url: string, instance: string): Promise<void> {
  await (await openServing(t, url, { instance })).cursorKeys();
}

/** The address with a changed part. */
export function changed(url: string, change: Partial<Pick<URL, 'username' | 'pathname' | 'port'>>): string {
  return Object.assign(new URL(url), change).href;
}

/** A new role without any privileges. */
export async function newRole(t: TestContext, url: string): Promise<string> {
  const name = `partner_network_test_${randomBytes(8).toString('hex')}`;
  const client = await connectTo(t, url);
  // If the server requires a password, the role gets the password of the URL.
  const word = decodeURIComponent(new URL(url).password).replaceAll("'", "''");
  await client.query(`create role ${name} login password '${word}'`);
  afterAllElse(t, async () => {
    const last = await connectTo({ after: () => {} }, changed(url, { pathname: 'postgres' }));
    await last.query(`drop role ${name}`);
    await last.end();
  });
  return name;
}

/** An instance that serves the database, without listening for partners. */
export async function instanceOn(t: TestContext, url: string, options: Partial<StoreOptions> = {}) {
  const store = await openServing(t, url, options);
  const watched = watchedLog();
  const health = await startHealth('127.0.0.1', 0, store.ping, async () => [], watched.log);
  t.after(health.close);
  const answer = async () => {
    const response = await fetch(`${health.url}/readyz`);
    const text = await response.text();
    return response.status === 200 ? text : response.status;
  };
  return { store, answer, lines: watched.lines };
}
