import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { type CommandLine, commandLine } from '../../../testkit/fixtures/run.ts';
import { keepCursorKeys } from '../../../testkit/watch/logs.ts';

interface Rotated {
  readonly id: number;
  readonly created_at: string;
  readonly retires: readonly { readonly id: number; readonly opens_until: string }[];
  readonly discarded: readonly number[];
}

/** Keeps the bytes of the keys, which no command may print. */
function keepKeys(line: CommandLine): Promise<void> {
  return line.inside(async (store) => keepCursorKeys(await store.cursorKeys()));
}

async function withDatabase(t: TestContext): Promise<CommandLine> {
  const line = commandLine(t);
  await keepKeys(line);
  return line;
}

const rotate = ['cursor-key', 'rotate'];
const list = ['cursor-key', 'list'];
const day = 24 * 3_600_000;

test('rotates the cursor key, and lists the keys without secrets', async (t) => {
  const line = await withDatabase(t);
  const rotated = await line.json<Rotated>(...rotate);
  assert.deepEqual(Object.keys(rotated), ['id', 'created_at', 'seals_from', 'retires', 'discarded']);
  assert.deepEqual([rotated.id, rotated.retires.map(({ id }) => id), rotated.discarded], [1, [0], []]);
  assert.ok(Date.parse(rotated.retires[0]!.opens_until) - Date.parse(rotated.created_at) > day);

  const keys = await line.json<Record<string, unknown>[]>(...list);
  const fields = ['id', 'created_at', 'status'];
  assert.deepEqual(keys.map(Object.keys), [
    [...fields, 'opens_until'],
    [...fields, 'seals_from'],
  ]);
  await keepKeys(line);
  const { stdout } = await line.run(list);
  assert.match(
    stdout,
    /^ID +STATUS +SEALS FROM +OPENS UNTIL +CREATED\n1 +waiting +\S+Z +- +\S+\n0 +sealing +- +\S+Z +\S+\n$/,
  );
});

test('says what happens to existing cursors', async (t) => {
  const line = await withDatabase(t);
  const kept = await line.run(rotate);
  const both = /^Created .* key 1\. It seals cursors from \S+Z\.\nCursor key 0 opens cursors until \S+Z\.\n$/;
  assert.match(kept.stdout, both);
  const discarded = await line.run([...rotate, '--discard-old']);
  const only =
    /^Created .* 2\. It seals cursors from now on\.\nDeleted cursor keys 0 and 1\.\nWithin .*INVALID_CURSOR/;
  assert.match(discarded.stdout, only);
});

test('rotations of several processes at once all succeed, each with a key of its own', async (t) => {
  const line = await withDatabase(t);
  const rotated = await Promise.all([1, 2].map(() => line.json<Rotated>(...rotate)));
  assert.deepEqual(rotated.map(({ id }) => id).toSorted(), [1, 2]);
  assert.equal((await line.inside((store) => store.cursorKeys())).length, 3);
});

test('says if no key exists, and creates the first', async (t) => {
  const line = await withDatabase(t);
  const db = new DatabaseSync(line.databasePath);
  db.exec('delete from cursor_keys');
  db.close();
  await line.fails(list, 1, /no cursor key\. Create one with "partner-network cursor-key rotate"/);
  assert.equal((await line.json<Rotated>(...rotate)).id, 0);
});
