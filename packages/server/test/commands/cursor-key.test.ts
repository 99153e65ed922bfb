import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { assertFailed, type CommandLine, commandLine } from '../support/run.ts';

interface Rotated {
  readonly id: number;
  readonly created_at: string;
  readonly seals_from?: string;
  readonly retires: readonly { readonly id: number; readonly opens_until: string }[];
  readonly discarded: readonly number[];
}

async function withDatabase(line: CommandLine): Promise<CommandLine> {
  await line.inside(async () => {});
  return line;
}

const rotate = ['cursor-key', 'rotate'];
const list = ['cursor-key', 'list'];
const day = 24 * 3_600_000;

test('rotates the cursor key, and says until when the one before opens cursors', async (t) => {
  const line = await withDatabase(commandLine(t));
  const rotated = await line.json<Rotated>(...rotate);
  assert.deepEqual(Object.keys(rotated), ['id', 'created_at', 'seals_from', 'retires', 'discarded']);
  assert.deepEqual([rotated.id, rotated.retires.map(({ id }) => id), rotated.discarded], [1, [0], []]);
  assert.ok(Date.parse(rotated.retires[0]!.opens_until) - Date.parse(rotated.created_at) > day);

  const { status, stdout } = await line.run(rotate);
  assert.equal(status, 0);
  assert.match(stdout, /^Created cursor key 2, which seals from \S+Z\.\nKey 0 opens cursors until \S+Z\.\n/);
});

test('lists keys with what they do, and never their secrets', async (t) => {
  const line = await withDatabase(commandLine(t));
  await line.json(...rotate);
  const keys = await line.json<Record<string, unknown>[]>(...list);
  assert.deepEqual(
    keys.map((key) => Object.keys(key)),
    [
      ['id', 'created_at', 'status', 'opens_until'],
      ['id', 'created_at', 'status', 'seals_from'],
    ],
  );
  const { stdout } = await line.run(list);
  assert.match(
    stdout,
    /^ID +CREATED +STATUS +SEALS FROM +OPENS UNTIL\n0 +\S+ +sealing +- +\S+Z\n1 +\S+ +waiting +\S+Z +-\n$/,
  );
});

test('discards the old keys when it is told to, and says what that does to callers', async (t) => {
  const line = await withDatabase(commandLine(t));
  const { status, stdout } = await line.run([...rotate, '--discard-old']);
  assert.equal(status, 0);
  assert.match(stdout, /^Created cursor key 1, which seals from now on\.\nDiscarded 0: .*INVALID_CURSOR/);
  const rotated = await line.json<Rotated>(...rotate, '--discard-old');
  assert.deepEqual([rotated.id, rotated.retires, rotated.discarded], [2, [], [1]]);
});

test('rotations of several processes at once all succeed, each with a key of its own', async (t) => {
  const line = await withDatabase(commandLine(t));
  const rotated = await Promise.all([1, 2, 3].map(() => line.json<Rotated>(...rotate)));
  assert.deepEqual(rotated.map(({ id }) => id).toSorted(), [1, 2, 3]);
  assert.equal((await line.inside((store) => store.cursorKeys())).length, 4);
});

test('refuses to serve or to list without any key, and a rotation mends that', async (t) => {
  const line = await withDatabase(commandLine(t));
  const db = new DatabaseSync(line.databasePath);
  db.exec('delete from cursor_keys');
  db.close();
  assertFailed(await line.run(list), 1, /no cursor key: "partner-network cursor-key rotate" makes one/);
  const serve = ['serve', '--port', '0', '--ops-port', '0'];
  assertFailed(await line.run(serve), 1, /no key to seal cursors with: "partner-network cursor-key rotate"/);
  assert.equal((await line.json<Rotated>(...rotate)).id, 0);
});
