/** The two example senders of send-changes.md: they send every line, whatever happens on the way. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { commandLine, start } from '../../../packages/testkit/fixtures/run.ts';
import { freePort, listenOnAnyPort } from '../../../packages/testkit/servers/free-port.ts';
import { programsOnPath } from '../../../packages/testkit/servers/programs.ts';
import { keepKeysIn, watchCommand } from '../../../packages/testkit/watch/logs.ts';
import { root } from '../../sources.ts';

const folder = join(root, 'docs/how-to/operators');
const [python] = programsOnPath(['python3']);
const senders = [
  { name: 'send-changes.ts', program: process.execPath, skip: false as const },
  {
    name: 'send_changes.py',
    program: python ?? '',
    skip: python === undefined && 'python3 is not installed',
  },
];
type Sender = (typeof senders)[number];

function startSender(t: TestContext, { name, program }: Sender, words: readonly string[], key: string) {
  const env = { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', INGEST_KEY: key };
  const child: ChildProcess = spawn(program, [join(folder, name), ...words], { env });
  watchCommand(child as Parameters<typeof watchCommand>[0], words);
  t.after(() => void child.kill('SIGKILL'));
  const printed = Promise.all([text(child.stdout!), text(child.stderr!)]);
  const ended = once(child, 'close').then(async ([status]) => {
    const [stdout, stderr] = await printed;
    return { status: status as number, stdout, stderr };
  });
  return { child, ended };
}

/** The records of a text that has one in each line. */
const linesOf = (lines: string) => lines.match(/.+/g)?.map((line) => JSON.parse(line)) ?? [];

/** A database with a partner and a key for batches, and the administrative service on a fixed port. */
async function scene(t: TestContext) {
  const line = commandLine(t);
  await line.run(['migrate']);
  await line.run(['partners', 'create', '--id', 'PARTNER_ACME', '--name', 'Acme']);
  const { key } = await line.json<{ key: string }>('admin-keys', 'create', '--name', 'x', '--role', 'INGEST');
  keepKeysIn(key);
  const port = await freePort();
  const operationsPort = await freePort();
  const ports = ['--port', String(port), '--ops-port', String(operationsPort), '--drain-delay', '0'];
  const startAdmin = async () => {
    const running = start(t, ['admin', '--database', line.database, ...ports, '--log-level', 'error']);
    await running.says('stderr', /listening on /);
    return running;
  };
  const committed = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
    const counted = /^partner_network_batches_total\{kind="balances",outcome="committed"\} (\d+)$/m;
    return Number(counted.exec(metrics)![1]);
  };
  const stored = async () => linesOf((await line.run(['export', 'balances'])).stdout);
  return { ...line, key, url: `http://127.0.0.1:${port}`, startAdmin, committed, stored };
}

const balance = (index: number, amount: number, time: string) => ({
  id: `BAL_${index}`,
  customer_id: `CUSTOMER_${index % 97}`,
  type: 'CHECKING',
  currency: 'USD',
  amount,
  updated_at: time,
});
const early = '2025-05-01T08:00:00.000Z';
const late = '2025-05-01T09:00:00.000Z';

for (const sender of senders) {
  const { name, skip } = sender;
  test(`${name} sends every line exactly once to a service that is killed meanwhile`, { skip }, async (t) => {
    const { folder: own, key, url, startAdmin, committed, stored } = await scene(t);
    const count = 30_000;
    const records: object[] = Array.from({ length: count }, (_, index) => balance(index, index, early));
    // The newest line of a record counts, though it is not the last one. A deleted record stays out.
    for (let index = 0; index < count; index += 100) records.push(balance(index, -1, late));
    for (let index = 0; index < count; index += 100) records.push(balance(index, -2, early));
    for (let index = 50; index < count; index += 100) {
      records.unshift({ id: `BAL_${index}`, customer_id: `CUSTOMER_${index % 97}`, deleted_at: late });
    }
    const file = join(own, 'changes.jsonl');
    writeFileSync(file, records.map((record) => JSON.stringify(record)).join('\n\n'));

    const first = await startAdmin();
    const words = ['balances', file, '--url', url, ...(name.endsWith('.py') ? ['--gzip'] : [])];
    const { child, ended } = startSender(t, sender, words, key);
    await until(60_000, async () => (await committed()) >= 3);
    first.signal('SIGKILL');
    await first.ended;
    const before = (await stored()).length;
    assert.ok(before >= 1_000 && before < count * 0.9, `${before} lines were stored before the end`);
    assert.equal(child.exitCode, null);
    await startAdmin();
    const { status, stdout, stderr } = await ended;
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^No answer \(.*\)\. Sending the batch again in \d+\.\d s\.$/m);
    assert.match(stdout, new RegExp(`^${records.length} read, .* 0 rejected\\.\n$`));

    const found = (await stored()).map(({ id, amount }) => `${id} ${amount}`).toSorted();
    const expected = Array.from({ length: count }, (_, index) =>
      index % 100 === 50 ? [] : [`BAL_${index} ${index % 100 === 0 ? -1 : index}`],
    );
    assert.deepEqual(found, expected.flat().toSorted());
  });

  test(`${name} keeps rejected lines, or stops at them, and stops at a refusal`, { skip }, async (t) => {
    const { folder: own, key, url, startAdmin, stored } = await scene(t);
    await startAdmin();
    const file = join(own, 'changes.jsonl');
    // An answer lists at most 1,000 errors, and these lines have four each.
    const wrong = Array.from({ length: 600 }, (_, index) => ({ id: `BAD_${index}`, customer_id: 'C' }));
    const right = [balance(1, 1, early), balance(2, 2, early)];
    const records = [right[0], ...wrong, right[1]];
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const run = (words: readonly string[], withKey = key) =>
      startSender(t, sender, ['balances', file, '--url', url, ...words], withKey).ended;

    const stopped = await run([]);
    assert.equal(stopped.status, 1);
    assert.match(stopped.stderr, /^line 2: type: MISSING_REQUIRED_FIELD: .*Lines up to 0 were sent\./ms);
    assert.deepEqual(await stored(), []);

    const kept = join(own, 'rejected.jsonl');
    const skipped = await run(['--rejected-file', kept, '--gzip']);
    assert.deepEqual([skipped.status, skipped.stderr], [3, '']);
    assert.equal(skipped.stdout, '602 read, 2 written, 0 unchanged, 0 stale, 0 deleted, 600 rejected.\n');
    assert.equal(statSync(kept).mode & 0o777, 0o600);
    const entries = linesOf(readFileSync(kept, 'utf8'));
    assert.deepEqual(
      entries.map(({ line, record }) => [line, JSON.parse(record).id]),
      wrong.map(({ id }, index) => [index + 2, id]),
    );
    assert.deepEqual(Object.keys(entries[0].errors[0]), ['field', 'code', 'detail']);
    assert.equal((await stored()).length, 2);

    const refused = await run([], `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^The service answered 401: UNAUTHORIZED: .* \(request [\w-]{36}\)\. /);
    assert.equal((await run([], 'pn_live_x')).status, 2);
    assert.equal((await run(['--bogus'])).status, 2);
  });

  test(`${name} skips byte order marks, and holds no line of standard input`, { skip }, async (t) => {
    const { folder: own, key, url, startAdmin, committed } = await scene(t);
    await startAdmin();
    const line = (index: number) => `${JSON.stringify(balance(index, 1, early))}\n`;
    const file = join(own, 'changes.jsonl');
    // The second mark begins the second batch.
    const lines = Array.from({ length: 1_000 }, (_, index) => line(index));
    writeFileSync(file, `\ufeff\r\n${lines.join('')}\ufeff \t\n${line(1_000)}`);
    const bounded = ['--url', url, '--give-up-after', '20'];
    const whole = await startSender(t, sender, ['balances', file, ...bounded], key).ended;
    assert.deepEqual([whole.status, whole.stderr], [0, '']);
    assert.match(whole.stdout, /^1001 read, 1001 written, /);

    const { child, ended } = startSender(t, sender, ['balances', '-', ...bounded], key);
    for (const index of [2_001, 2_002]) {
      const before = await committed();
      child.stdin!.write(line(index));
      await until(20_000, async () => (await committed()) > before);
    }
    child.stdin!.end();
    assert.match((await ended).stdout, /^2 read, 2 written, /);
  });

  test(`${name} sends a batch again after each answer that may change`, { skip }, async (t) => {
    const bodies: string[] = [];
    const failures: ((response: ServerResponse) => void)[] = [
      ...[408, 429, 500, 502, 503, 504].map(
        (status) => (response: ServerResponse) =>
          void response.writeHead(status, status === 503 ? { 'retry-after': '2' } : {}).end('not JSON'),
      ),
      (response) => void response.socket?.destroy(),
      (response) => void response.writeHead(200, { 'content-length': '100' }).end('{"read":'),
    ];
    const counts = { read: 1_000, written: 1_000, unchanged: 0, stale: 0, deleted: 0, rejected_count: 0 };
    const answers = failures.flatMap((failure) => [
      failure,
      (response: ServerResponse) => void response.end(JSON.stringify(counts)),
    ]);
    const server = createServer(async (request: IncomingMessage, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      bodies.push(gunzipSync(Buffer.concat(chunks)).toString());
      answers.shift()!(response);
    });
    const url = `http://127.0.0.1:${await listenOnAnyPort(t, server)}/below/`;
    const { child, ended } = startSender(t, sender, ['balances', '-', '--url', url, '--gzip'], 'pna_test_x');
    const lines = failures.map((_, index) => `{"id":${index}}\r\n\n`.repeat(1_000));
    child.stdin!.end(`\n${lines.join('')} `);
    const { status, stdout, stderr } = await ended;
    assert.deepEqual([status, stdout.split(',')[0]], [0, '8000 read'], stderr);
    // Each batch was sent twice, and was the same.
    const sent = failures.map((_, index) => `{"id":${index}}\n`.repeat(1_000));
    assert.deepEqual(
      bodies.map((body) => body.replaceAll('\r', '')),
      sent.flatMap((body) => [body, body]),
    );
    assert.match(stderr, /^The service answered 503\. Sending the batch again in 2\.0 s\.$/m);

    // This answer stays the same, however often the batch is sent. The program does not wait for more input.
    answers.push((response) => void response.end(JSON.stringify(counts)));
    const other = startSender(t, sender, ['balances', '-', '--url', url, '--gzip'], 'pna_test_x');
    other.child.stdin!.write('{}\n');
    const stopped = await other.ended;
    assert.equal(stopped.status, 1);
    assert.match(stopped.stderr, /^The service read 1000 lines, not 1\. Lines up to 0 were sent\. /);

    const words = ['grants', '-', '--url', 'http://127.0.0.1:9', '--give-up-after', '1'];
    const again = startSender(t, sender, words, 'pna_test_x');
    again.child.stdin!.end('{}');
    const gaveUp = await again.ended;
    assert.equal(gaveUp.status, 1);
    assert.match(gaveUp.stderr, /Gave up after 1(\.0)? s\. Lines up to 0 were sent\. /);
    assert.equal(existsSync(join(folder, '__pycache__')), false);
  });
}
