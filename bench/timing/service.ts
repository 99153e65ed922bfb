/** A service with revoked keys, and one connection to it on which answers are timed. */
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { apiKeyOf, digestOfKey, newApiKey } from '../../packages/server/src/auth/api-key.ts';
import { parseDatabaseUrl } from '../../packages/server/src/store/address.ts';
import { openStore } from '../../packages/server/src/store/engines.ts';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { start } from '../../packages/testkit/fixtures/run.ts';
import { wholeRun } from '../lib/program.ts';

const keysOfKind = 1_000;
const past = '2026-01-01T00:00:00.000Z';

/** Unknown ones: any, and such whose digest begins as that of one on file does. */
export type Keys = Readonly<Record<'unknown' | 'near' | 'revoked', readonly string[]>>;

export function temporaryDatabase(): string {
  return `sqlite:${join(temporaryFolder(wholeRun), 'timing.db')}`;
}

export async function makeKeys(database: string): Promise<Keys> {
  const several = () => Array.from({ length: keysOfKind }, () => newApiKey('production'));
  const revoked = several();
  const store = await openStore(parseDatabaseUrl(database)!, 'production', 'migrate');
  await store.createPartner({ id: 'partner', name: 'Partner', created_at: past });
  for (const [index, text] of revoked.entries()) {
    const key = { id: `KEY_${index}`, partner_id: 'partner', last_four: text.slice(-4), created_at: past };
    const scopes = ['BALANCES_READ', 'BRANDS_READ'] as const;
    await store.createKey({ ...key, scopes, revoked_at: past }, digestOfKey(text));
  }
  await store.close();
  return { unknown: several(), near: nearTo(revoked), revoked };
}

/** Were digests compared byte by byte, these would take longer than others. */
function nearTo(onFile: readonly string[]): string[] {
  const beginning = (key: string) => Buffer.from(digestOfKey(key)).toString('hex', 0, 2);
  const taken = new Set(onFile.map(beginning));
  const near: string[] = [];
  for (let index = 0; near.length < keysOfKind; index += 1) {
    const key = apiKeyOf('production', `near${index}`.padEnd(43, '0'));
    if (taken.has(beginning(key))) near.push(key);
  }
  return near;
}

/** Serves it as an operator would. Its log goes nowhere: were it read here, that would take time of ours. */
export async function startService(database: string): Promise<number> {
  const nowhere = openSync(devNull, 'w');
  const words = ['serve', '--database', database, '--port', '0', '--ops-port', '0'];
  const service = start(wholeRun, words, { stdout: nowhere });
  const [, address = ''] = await service.says('stderr', /listening on (\S+), /);
  return Number(new URL(address).port);
}

interface TimedConnection {
  /** Sends a request, and resolves to the µs until all of its answer is there. */
  ask(request: Buffer): Promise<number>;
  close(): void;
}

export async function connectTimed(port: number): Promise<TimedConnection> {
  const socket: Socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  let received = Buffer.alloc(0);
  let startedNs = 0n;
  let finish: (us: number) => void = () => {};
  let fail: (fault: Error) => void = () => {};
  socket.on('data', (chunk) => {
    const nowNs = process.hrtime.bigint();
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(received.toString('latin1'))?.[1];
    if (end < 0 || received.length < end + 4 + Number(length)) return;
    received = Buffer.alloc(0);
    finish(Number(nowNs - startedNs) / 1_000);
  });
  socket.on('error', (fault) => fail(fault));
  socket.on('close', () => fail(new Error('The service closed the connection.')));
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        [finish, fail] = [resolve, reject];
        startedNs = process.hrtime.bigint();
        socket.write(request);
      }),
    close: () => void socket.destroy(),
  };
}
