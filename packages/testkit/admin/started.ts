/** Starts `admin` as an operator does, and sends requests to it. */
import type { AdminRole } from '@partner-network/contract/permissions';
import { adminKeyOf, digestOfKey } from '../../service/src/auth.ts';
import type { Store } from '../../store/src/port.ts';
import { byTest, createdAt } from '../fixtures/fixture.ts';
import type { Lifetime } from '../fixtures/lifetime.ts';
import { type Surroundings, start } from '../fixtures/run.ts';
import { keepKey } from '../watch/logs.ts';

const textOf = (role: string) => adminKeyOf('sandbox', role.toLowerCase().padEnd(43, '0'));

export const adminKeys: Readonly<Record<AdminRole, string>> = {
  VIEWER: textOf('VIEWER'),
  INGEST: textOf('INGEST'),
  SUPPORT: textOf('SUPPORT'),
  ADMIN: textOf('ADMIN'),
};

/** Creates a key for each role, with the id `ADMIN_<role>`. */
export async function createAdminKeys(store: Store): Promise<void> {
  for (const [role, text] of Object.entries(adminKeys)) {
    keepKey(text);
    const key = { id: `ADMIN_${role}`, name: role, role: role as AdminRole, last_four: text.slice(-4) };
    await store.createAdminKey({ ...key, created_at: createdAt }, digestOfKey(text), byTest);
  }
}

export type StartedAdmin = Awaited<ReturnType<typeof startAdmin>>;

/** Resolves when it listens, on ports that the system chooses. */
export async function startAdmin(
  t: Lifetime,
  database: string,
  flags: readonly string[] = [],
  surroundings?: Surroundings,
) {
  const ports = ['--port', '0', '--ops-port', '0', '--drain-delay', '0'];
  const words = ['admin', '--environment', 'sandbox', '--database', database, ...ports, ...flags];
  const running = start(t, words, surroundings);
  const listening = /listening on (http:\S+), operations on (\S+)\.$/m;
  const [, address = '', operations = ''] = await running.says('stderr', listening);
  /** Sends lines as a batch. */
  const send = (kind: string, lines: string, query = '') =>
    fetch(`${address}/admin/v1/${kind}/batches${query}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${adminKeys.INGEST}`,
        'content-type': 'application/x-ndjson',
      },
      body: lines,
    });
  return { ...running, address, operations, send };
}
