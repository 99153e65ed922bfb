import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { newApiKey } from '../../../../service/src/auth.ts';
import { until } from '../../../../testkit/fixtures/lifetime.ts';
import {
  assertFailed,
  type CommandLine,
  spawnCommand,
  withPartners,
} from '../../../../testkit/fixtures/run.ts';

const followBrands = ['import', 'brands', '-', '--partner', 'acme', '--follow'];

function brandLine(id: string): string {
  return `{"id":"${id}","name":"Name","reference_id":"ref"}\n`;
}

async function countBrands(line: CommandLine): Promise<number> {
  const query = { partnerId: 'acme', referenceId: undefined, after: '', limit: 100 };
  const { records } = await line.inside((store) => store.listBrands(query));
  return records.match(/"id":/g)?.length ?? 0;
}

/** A feed, with what it has printed so far. */
function startFeed(t: TestContext, line: CommandLine, ...flags: string[]) {
  const child = spawnCommand([...followBrands, '--database', line.database, ...flags]);
  t.after(() => child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (said.stdout += text));
  child.stderr.on('data', (text) => (said.stderr += text));
  const ended = once(child, 'close');
  return { child, said, ended };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`commits lines while more may come, and ends with status 0 and a summary on ${signal}`, async (t) => {
    const line = await withPartners(t, ['acme']);
    const { child, said, ended } = startFeed(t, line);
    child.stdin.write(`${brandLine('a')}nonsense\n`);
    await until(20_000, async () => (await countBrands(line)) === 1);
    // Half a line is not a bad line: its other half may come later.
    child.stdin.write(`${brandLine('b')}{"id":"c","na`);
    child.kill(signal);
    assert.deepEqual(await ended, [0, null]);
    assert.equal(said.stdout, '3 read, 2 written, 0 unchanged, 0 stale, 0 deleted, 1 rejected.\n');
    assert.match(said.stderr, /^line 2: INVALID_JSON: [^\n]*\n$/);
    assert.equal(await countBrands(line), 2);
  });
}

test('after it was killed, a feed has all lines once they are sent again', async (t) => {
  const line = await withPartners(t, ['acme']);
  const ids = Array.from({ length: 90 }, (_, index) => `b${String(index).padStart(2, '0')}`);
  for (const killedAt of [1, 40]) {
    const { child, ended } = startFeed(t, line);
    child.stdin.on('error', () => {});
    for (const id of ids.slice(0, killedAt + 40)) child.stdin.write(brandLine(id));
    await until(20_000, async () => (await countBrands(line)) >= killedAt);
    child.kill('SIGKILL');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
  }
  const { child, said, ended } = startFeed(t, line);
  child.stdin.end(ids.map(brandLine).join(''));
  assert.deepEqual(await ended, [0, null]);
  const [, written = '', unchanged = ''] = /^90 read, (\d+) written, (\d+) unchanged/.exec(said.stdout)!;
  assert.equal(Number(written) + Number(unchanged), 90);
  assert.ok(Number(unchanged) >= 40, said.stdout);
  assert.equal(await countBrands(line), 90);
});

test('goes on when nobody reads its standard error any more', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { child, said, ended } = startFeed(t, line);
  child.stderr.destroy();
  child.stdin.end(`nonsense\n${brandLine('a')}nonsense\n${brandLine('b')}`);
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.stdout, '4 read, 2 written, 0 unchanged, 0 stale, 0 deleted, 2 rejected.\n');
});

test('its metrics count lines by kind, and say when a line was committed', async (t) => {
  const line = await withPartners(t, ['acme']);
  const { child, said } = startFeed(t, line, '--ops-port', '0', '--ops-host', '127.0.0.2');
  await until(20_000, () => said.stderr.includes('/metrics.\n'));
  const [, url = ''] = /Metrics at (http:\/\/127\.0\.0\.2:\S+)\.\n/.exec(said.stderr)!;
  const metrics = async () => (await fetch(url)).text();
  const rejected = (count: number) =>
    new RegExp(`^partner_network_import_lines_total{kind="brands",outcome="rejected"} ${count}$`, 'm');
  const committed = /^partner_network_last_commit_timestamp_seconds{kind="brands",source="feed"} ([\d.]+)$/m;
  assert.match(await metrics(), rejected(0));
  child.stdin.write('nonsense\n');
  await until(20_000, async () => rejected(1).test(await metrics()));
  assert.doesNotMatch(await metrics(), committed);
  const before = Date.now() / 1_000;
  child.stdin.write(brandLine('a'));
  await until(20_000, async () => committed.test(await metrics()));
  const at = Number(committed.exec(await metrics())![1]);
  assert.ok(at >= before && at <= Date.now() / 1_000, String(at));
});

test('handles signals while the embedded database is locked: the second ends it at once', {
  timeout: 9_000,
}, async (t) => {
  const line = await withPartners(t, ['acme']);
  const other = new DatabaseSync(line.databasePath);
  t.after(() => other.close());
  other.exec('begin immediate');
  const child = spawnCommand([...followBrands, '--database', line.database]);
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  child.stdin.write(brandLine('a'));
  const [text] = await once(child.stderr, 'data');
  assert.match(String(text), /^The embedded database cannot answer now .* Retrying until it is free\.\n$/);
  const signals = setInterval(() => child.kill('SIGTERM'), 100);
  assert.deepEqual(await ended, [null, 'SIGTERM']);
  clearInterval(signals);
});

test('a stop loses no line that was read: each is written, or still in the pipe', async (t) => {
  const line = await withPartners(t, ['acme']);
  const pipe = join(line.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(fd));
  // Reads and writes, so that the input has no end.
  const runner = ['/bin/sh', '-c', 'exec "$@" <> "$0"', pipe];
  const child = spawnCommand([...followBrands, '--database', line.database], { runner });
  t.after(() => child.kill('SIGKILL'));
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (said.stdout += text));
  child.stderr.on('data', (text) => (said.stderr += text));
  const ended = once(child, 'close');
  let sent = 0;
  const send = () => {
    writeSync(fd, brandLine(`b${sent}`));
    sent += 1;
  };
  send();
  await until(20_000, async () => (await countBrands(line)) === 1);
  const other = new DatabaseSync(line.databasePath);
  t.after(() => other.close());
  other.exec('begin immediate');
  // The pipe has room for 1,300 lines. The feed reads as many, and as many more while it waits.
  await until(20_000, () => {
    try {
      while (sent < 3_000) send();
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
    }
    return sent === 3_000;
  });
  await until(20_000, () => said.stderr.includes('Retrying until it is free.'));
  child.kill('SIGTERM');
  await until(20_000, () => said.stderr.includes('Stopping.'));
  other.exec('rollback');
  assert.deepEqual(await ended, [0, null]);
  // An empty pipe could not be read.
  send();
  const left = Buffer.alloc(1024 * 1024);
  const lines = left.toString('utf8', 0, readSync(fd, left)).trimEnd().split('\n');
  const read = sent - lines.length;
  assert.match(said.stdout, new RegExp(`^${read} read, ${read} written, `));
});

/** A feed that has written two brands and then lost its database, with one more line to write. */
async function loseDatabase(t: TestContext) {
  const line = await withPartners(t, ['acme']);
  const { child, said, ended } = startFeed(t, line);
  // When the second brand is written, the feed knows of the first.
  for (const [index, name] of ['a', 'b'].entries()) {
    child.stdin.write(brandLine(name));
    await until(20_000, async () => (await countBrands(line)) === index + 1);
  }
  const away = `${line.databasePath}-away`;
  renameSync(line.databasePath, away);
  child.stdin.end(brandLine('c'));
  const lost = /^\S*test\.db was removed or moved\. [^\n]* Retrying until the database returns\.\n/;
  await until(20_000, () => lost.test(said.stderr));
  return { line, child, said, ended, restore: () => renameSync(away, line.databasePath) };
}

test('waits for a lost database, also after its input has ended, and reports its return', async (t) => {
  const { line, said, ended, restore } = await loseDatabase(t);
  restore();
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.stdout, '3 read, 3 written, 0 unchanged, 0 stale, 0 deleted, 0 rejected.\n');
  assert.match(said.stderr, /returns\.\nThe database answers again, after \d+ s\. The import continues\.\n$/);
  assert.equal(await countBrands(line), 3);
});

test('stopped without its database, it ends with status 1 and says what to send again', async (t) => {
  const { child, said, ended } = await loseDatabase(t);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [1, null]);
  assert.equal(said.stdout, '');
  const [, stopping, ...failure] = said.stderr.split('\n');
  assert.equal(stopping, 'Stopping. Retrying for up to 5 s.');
  assert.match(
    failure.join('\n'),
    /moved\. .* Lines up to [12] were written\. Send all later lines again\.\n$/,
  );
});

test('ends with the feed; --json prints one document, and bad lines are on standard error', async (t) => {
  const line = await withPartners(t, ['acme']);
  const input = `${brandLine('a')}{"name":5,"reference_id":"r"}\n${brandLine('b')}`;
  const { status, stdout, stderr } = await line.run([...followBrands, '--json'], { input });
  const { rejected, ...counts } = JSON.parse(stdout);
  assert.deepEqual(
    [status, counts],
    [0, { read: 3, written: 2, unchanged: 0, stale: 0, deleted: 0, rejected_count: 1 }],
  );
  assert.deepEqual([rejected.length, rejected[0].line], [1, 2]);
  assert.match(stderr, /^line 2: name: EXPECTED_STRING: Set this field to a string\.\n$/);
});

test('names the id of a rejected line if it is safe to print', async (t) => {
  const line = await withPartners(t, ['acme']);
  const key = newApiKey('production');
  const ids = ['BRAND_3', 'a\u001b[2J\nb', 'x'.repeat(300), 'jane@example.com', key, '', 7, null];
  const input = ids.map((id) => `${JSON.stringify({ id, name: '', reference_id: 'r' })}\n`).join('');
  const { stderr } = await line.run(followBrands, { input: `${input}nonsense\n` });
  const named = stderr.matchAll(/^(line \d+[^:]*): name: VALUE_EMPTY: Set this field to a value/gm);
  assert.deepEqual(
    [...named].map(([, where]) => where),
    [
      'line 1 (id BRAND_3)',
      'line 2 (id a\ufffd[2J\ufffdb)',
      `line 3 (id ${'x'.repeat(64)})`,
      'line 4 (id [personal data])',
      'line 5 (id [key])',
      'line 6',
      'line 7',
      'line 8',
    ],
  );
  assert.match(stderr, /^line 9: INVALID_JSON: /m);
  assert.doesNotMatch(stderr, /jane|\u001b/);
});

test('follows only standard input and JSON Lines, and not with --dry-run', async (t) => {
  const line = await withPartners(t, ['acme']);
  const words = ['import', 'balances', 'file.csv', '--follow', '--dry-run', '--format', 'csv'];
  assertFailed(await line.run(words), 2, /pass - as FILE\./, /omit --dry-run/, /omit --format csv/);
});

test('--ops-host has no effect alone, so it is refused', async (t) => {
  const line = await withPartners(t, ['acme']);
  const words = ['import', 'balances', '-', '--follow', '--ops-host', '0.0.0.0'];
  assertFailed(await line.run(words), 2, /^--ops-host needs --ops-port\.$/m);
});
