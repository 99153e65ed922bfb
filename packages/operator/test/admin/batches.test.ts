/** Batches: what each status means, and what is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readMetrics } from '@partner-network/common/observability/metric';
import { exported } from '../../../store/test/suite/exports.ts';
import { adminScene, assertErrors, type Body, balance, engines } from './scene.ts';

const time = '2026-02-01T00:00:00.000Z';
/** Read, written, unchanged, stale, deleted, and rejected. */
const counts = ({ errors: _, ...body }: Body): number[] => Object.values(body);

for (const engine of engines) {
  test(`a batch is written once, however often it is sent (${engine})`, async (t) => {
    const { batch, store } = await adminScene(t, engine);
    const records = [balance('a'), balance('b'), balance('c', { updated_at: '2026-03-01T00:00:00Z' })];
    const first = await batch('balances', records);
    assert.deepEqual([first.status, counts(first.body)], [200, [3, 3, 0, 0, 0, 0]]);
    assert.equal(first.body.errors, undefined);
    assert.deepEqual(counts((await batch('balances', records)).body), [3, 0, 3, 0, 0, 0]);
    const late = [balance('c', { amount: 1 }), { customer_id: 'bob', id: 'b', deleted_at: time }];
    assert.deepEqual(counts((await batch('balances', late)).body), [2, 0, 0, 1, 1, 0]);
    const stored = (await exported(store, 'balances')).filter((line) => line.includes('"bob"'));
    assert.equal(stored.map((line) => JSON.parse(line).id).join(), 'a,c');
  });

  test(`a rejected line stops the batch, or is left out if the sender says so (${engine})`, async (t) => {
    const { batch, store } = await adminScene(t, engine);
    const records = [
      balance('a'),
      balance('b', { amount: '5', colour: 'red' }),
      { ...balance('c'), id: undefined },
      { ...balance('d'), updated_at: undefined },
      balance('bob@example.com', { amount: 1.5 }),
    ];
    const errors = [
      ['EXPECTED_INTEGER', 'amount', 2, 'b'],
      ['UNKNOWN_FIELD', 'colour', 2, 'b'],
      ['MISSING_REQUIRED_FIELD', 'id', 3, undefined],
      ['MISSING_REQUIRED_FIELD', 'updated_at', 4, 'd'],
      ['EXPECTED_INTEGER', 'amount', 5, undefined],
    ];
    const found = ({ errors }: Body) =>
      errors.map(({ code, field, line, id }: Body) => [code, field, line, id]);
    const stopped = await batch('balances', records);
    assert.deepEqual([stopped.status, counts(stopped.body)], [422, [5, 0, 0, 0, 0, 4]]);
    assert.deepEqual(found(stopped.body), errors);
    const tried = await batch('balances', records, '?on_rejected=skip&dry_run=true');
    assert.deepEqual([tried.status, counts(tried.body)], [207, [5, 1, 0, 0, 0, 4]]);
    assert.doesNotMatch((await exported(store, 'balances')).join(), /"bob"/);
    const skipped = await batch('balances', records, '?on_rejected=skip');
    assert.deepEqual([skipped.status, counts(skipped.body)], [207, [5, 1, 0, 0, 0, 4]]);
    assert.deepEqual(found(skipped.body), errors);
    assert.match((await exported(store, 'balances')).join(), /"bob"/);
  });

  test(`brands and grants are sent in batches, too (${engine})`, async (t) => {
    const { batch } = await adminScene(t, engine);
    const brand = { partner_id: 'acme', id: 'n1', name: 'N', reference_id: 'r', updated_at: time };
    assert.deepEqual(counts((await batch('brands', [brand])).body), [1, 1, 0, 0, 0, 0]);
    const stray = { ...brand, partner_id: 'nobody' };
    const unknown = await batch('brands', [stray, { ...brand, id: 'n2' }]);
    assertErrors(unknown, 422, 'UNKNOWN_PARTNER partner_id');
    const grant = { partner_id: 'acme', customer_id: 'bob', id: 'g1', updated_at: time };
    assert.deepEqual(counts((await batch('grants', [grant])).body), [1, 1, 0, 0, 0, 0]);
    assert.deepEqual(counts((await batch('grants', [grant])).body), [1, 0, 1, 0, 0, 0]);
    const other = { ...grant, partner_id: 'zenith', updated_at: '2026-03-01T00:00:00Z' };
    assertErrors(await batch('grants', [other]), 422, 'IMMUTABLE_FIELD partner_id');
    const ended = { ...grant, status: 'REVOKED', updated_at: '2026-03-01T00:00:00Z' };
    assert.deepEqual(counts((await batch('grants', [ended])).body), [1, 1, 0, 0, 0, 0]);
  });

  test(`several senders at once all get their answer (${engine})`, async (t) => {
    const { batch } = await adminScene(t, engine);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => batch('balances', [balance(`id-${index}`)])),
    );
    for (const { status, body } of answers) assert.deepEqual([status, body.written], [200, 1]);
  });

  test(`the first batch and the counts of an hour are in the audit log (${engine})`, async (t) => {
    const { batch, store, close, lines } = await adminScene(t, engine);
    await batch('balances', [balance('a')]);
    await batch('balances', [balance('b'), balance('c')]);
    await batch('balances', [balance('d')], '?dry_run=true');
    const entries = () => store.listAudit({ action: 'batch balances', limit: 10 });
    assert.equal((await entries()).length, 1);
    await close();
    const [last, first] = await entries();
    assert.equal(first?.details.written, 1);
    assert.deepEqual([last?.details.batches, last?.details.written], [2, 3]);
    assert.deepEqual([last?.actor, last?.target], ['admin-key:ADMIN_INGEST', 'balances']);
    const logged = lines().filter(({ msg }) => msg === 'batch');
    const said = logged.map(({ kind, written, dry_run }) => `${kind} ${written} ${dry_run ?? ''}`);
    assert.deepEqual(said, ['balances 1 ', 'balances 2 ', 'balances 1 true']);
  });
}

test('a list, and lines that are packed, are read as well', async (t) => {
  const { send } = await adminScene(t, 'sqlite');
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const post = (body: string | Uint8Array, headers: Record<string, string>) =>
    send('/balances/batches', { role: 'INGEST', method: 'POST', body, headers });
  const text = JSON.stringify([balance('a', { customer_id: 'x,[{"' }), balance('b')], null, 2);
  assert.deepEqual(counts((await post(text, json)).body), [2, 2, 0, 0, 0, 0]);
  assert.deepEqual(counts((await post(' [ ] ', json)).body), [0, 0, 0, 0, 0, 0]);
  const ndjson = { 'content-type': 'application/x-ndjson' };
  for (const empty of ['', '\n\n']) {
    assert.deepEqual(counts((await post(empty, ndjson)).body), [0, 0, 0, 0, 0, 0]);
  }
  const twice = `[${JSON.stringify(balance('c'))}, {"id":"d","id":"e"}, 7]`;
  assertErrors(await post(twice, json), 422, 'DUPLICATE_KEY id', 'EXPECTED_OBJECT');
  const lines = { ...ndjson, 'content-encoding': 'gzip' };
  const packed = gzipSync(`${JSON.stringify(balance('z'))}\n`);
  assert.deepEqual(counts((await post(packed, lines)).body), [1, 1, 0, 0, 0, 0]);
  assertErrors(await post('not packed', lines), 400, 'MALFORMED_REQUEST');
  assertErrors(await post('x', { 'content-type': 'text/csv' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
  assertErrors(await post('x', { ...lines, 'content-encoding': 'br' }), 415, 'UNSUPPORTED_MEDIA_TYPE');
});

test('a list that is not JSON is refused, and nothing of it is written', async (t) => {
  const { send, store } = await adminScene(t, 'sqlite');
  const headers = { 'content-type': 'application/json' };
  const item = JSON.stringify(balance('a'));
  const broken = [`[${item}}`, '[}', `[${item}`, `[${item}]]`, `[${item} ${item}]`, `[${item},{"a":]}]`];
  for (const body of [...broken, `[${item},]`, `[,${item}]`, `[${item}] x`, `[${item},\ufeff]`, '{}', '']) {
    for (const choice of ['stop', 'skip']) {
      const path = `/balances/batches?on_rejected=${choice}`;
      const answer = await send(path, { role: 'INGEST', method: 'POST', body, headers });
      assertErrors(answer, 400, 'INVALID_JSON');
    }
  }
  assert.doesNotMatch((await exported(store, 'balances')).join(), /"bob"/);
  const body = `[${`${item},`.repeat(2_000)}nil]`;
  const later = await send('/balances/batches', { role: 'INGEST', method: 'POST', headers, body });
  assert.match(later.body.errors[0].detail, / Item 2001 cannot be read as JSON\.$/);
});

/** The values of a metric by the values of its labels. */
const readingsOf = (metrics: Parameters<typeof readMetrics>[0], name: string) =>
  Object.fromEntries(
    readMetrics(metrics)
      .filter((metric) => metric.name === `partner_network_${name}`)
      .flatMap(({ readings }) => readings)
      .map(({ labels = {}, value }) => [Object.values(labels).join(' '), value]),
  );

test('the lag counts valid lines alone', async (t) => {
  const { batch, metrics } = await adminScene(t, 'sqlite');
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  for (const wrong of ['2999-01-01T00:00:00Z', 'tomorrow']) {
    const records = [balance(wrong, { updated_at: hourAgo }), balance('b', { updated_at: wrong })];
    assert.equal((await batch('balances', records, '?on_rejected=skip')).status, 207);
    const [seconds = 0] = Object.values(readingsOf(metrics, 'import_lag_seconds'));
    assert.ok(seconds >= 3_600 && seconds < 3_700, String(seconds));
  }
});

test('counts from 0, also lines of rejected batches, and reports the time of the last commit', async (t) => {
  const { batch, metrics } = await adminScene(t, 'sqlite');
  const read = (name: string) => readingsOf(metrics, name);
  // The increase of a counter that begins with 1 is 0 for Prometheus.
  for (const kind of ['brands', 'balances', 'grants']) {
    assert.equal(read('batches_total')[`${kind} rejected`], 0);
    for (const outcome of ['written', 'unchanged', 'stale', 'deleted', 'rejected'])
      assert.equal(read('batch_lines_total')[`${kind} ${outcome}`], 0);
  }
  const good = balance('a');
  const bad = balance('b', { amount: '5' });
  const statuses = [
    (await batch('balances', [good, bad, bad])).status,
    (await batch('balances', [good, bad], '?dry_run=true')).status,
    (await batch('balances', [bad], '?on_rejected=skip')).status,
    (await batch('balances', [])).status,
    (await batch('balances', [], '', { role: 'VIEWER' })).status,
  ];
  assert.deepEqual(statuses, [422, 422, 207, 200, 403]);
  const { 'balances rejected': rejected, 'balances refused': refused } = read('batches_total');
  assert.deepEqual([rejected, refused], [1, 1]);
  assert.equal(read('batch_lines_total')['balances rejected'], 3);
  assert.equal(read('batch_lines_total')['balances written'], 0);
  assert.deepEqual(read('last_commit_timestamp_seconds'), {});
  const before = Date.now() / 1_000;
  assert.equal((await batch('balances', [good])).status, 200);
  const { 'balances batches': at = 0, ...others } = read('last_commit_timestamp_seconds');
  assert.ok(at >= before && at <= Date.now() / 1_000, String(at));
  assert.deepEqual(others, {});
});

test('a batch with too many lines or bytes is refused, and the answer can be read', async (t) => {
  const { batch, send, store } = await adminScene(t, 'sqlite');
  const many = Array.from({ length: 10_001 }, (_, index) => balance(`id-${index}`));
  assertErrors(await batch('balances', many), 413, 'BATCH_TOO_LARGE');
  assert.doesNotMatch((await exported(store, 'balances')).join(), /"bob"/);
  const most = await batch('balances', many.slice(1));
  assert.deepEqual([most.status, most.body.written], [200, 10_000]);
  const headers = { 'content-type': 'application/x-ndjson' };
  const large = `${'x'.repeat(17 * 1024 * 1024)}\n`;
  const post = { role: 'INGEST', method: 'POST', headers } as const;
  assertErrors(await send('/balances/batches', { ...post, body: large }), 413, 'BATCH_TOO_LARGE');
  const blank = (lines: number) => send('/balances/batches', { ...post, body: '\n'.repeat(lines) });
  assert.equal((await blank(100_000)).status, 200);
  assertErrors(await blank(100_001), 413, 'BATCH_TOO_LARGE');
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const packed = { ...headers, 'content-encoding': 'gzip' };
  const unpacked = await send('/balances/batches', { ...post, headers: packed, body: bomb });
  assertErrors(unpacked, 413, 'BATCH_TOO_LARGE');
});
