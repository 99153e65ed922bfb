/**
 * What the importer takes, the tables of the embedded database take: a long import writes there on a
 * connection that does not check rows again.
 */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { FieldSchema } from '@partner-network/contract/records';
import fc from 'fast-check';
import { toCreate } from '../../../store/src/address.ts';
import type { ImportKind } from '../../../store/src/port.ts';
import { openSqlite } from '../../../store/src/sqlite/open.ts';
import { byTest, createdAt } from '../../../testkit/fixtures/fixture.ts';
import { isLongRun, temporaryFolder } from '../../../testkit/fixtures/lifetime.ts';
import { wholeFile } from '../../../testkit/servers/postgres.ts';
import { InexactNumber } from '../../src/ingest/json.ts';
import { createRecordCheck, kinds } from '../../src/ingest/record-check.ts';
import { badTimes, badUrls, goodTimes, goodUrls, smallest } from './check-line.ts';

const valuesOfField = isLongRun ? 100_000 : 300;
/** Several batches: the first one alone would be written on a connection that checks. */
const linesOfBatch = 100;

const controls = [...'\0\u0001\b\t\n\u001f\u007f'];
const ascii = ' "\\/%_*[]?{}^-+#:.@0139Zz';
const odd = [...controls, ...ascii, ...'é語🦊\u0080\u00a0\u2028\ufeff\uffff', '\ud800', '\udfff'];
const oddCharacter = fc.constantFrom(...odd);

const notTexts = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, -0, 0.5, 1e300, [''], { a: 'b' }),
  fc.double(),
  fc.constantFrom('1.0', '1e3', '9007199254740993', '-0').map((source) => new InexactNumber(source)),
);

/** Texts of a few odd characters, and texts of about the greatest length. */
function texts(most = 20): fc.Arbitrary<string> {
  const long = fc
    .tuple(fc.constantFrom('x', 'é', '🦊'), fc.integer({ min: most - 1, max: most + 1 }), oddCharacter)
    .map(([fill, length, last]) => fill.repeat(length - 1) + last);
  const short = fc.string({ unit: fc.oneof(oddCharacter, fc.constantFrom(...'aZ09')), maxLength: 8 });
  return fc.oneof({ weight: 20, arbitrary: short }, { weight: 1, arbitrary: long });
}

/** Texts that differ from good ones in a few places. */
function edited(good: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 1 }), fc.oneof(oddCharacter, fc.constant('')));
  return fc.tuple(good, fc.array(edit, { maxLength: 2 })).map(([text, edits]) => {
    let changed = text;
    for (const [at, removed, added] of edits) {
      const start = at % (changed.length + 1);
      changed = changed.slice(0, start) + added + changed.slice(start + removed);
    }
    return changed;
  });
}

const entry = fc.tuple(
  fc.oneof(texts(), fc.constantFrom('__proto__', '', '0')),
  fc.oneof({ weight: 20, arbitrary: texts(900) }, { weight: 1, arbitrary: notTexts }),
);
const maps = fc
  .oneof(
    { weight: 20, arbitrary: fc.array(entry, { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(entry, { minLength: 45, maxLength: 55 }) },
  )
  .map((entries) => Object.fromEntries(entries));

function valuesOf({
  type,
  enum: words,
  format,
  pattern = '',
  maxLength,
}: FieldSchema): fc.Arbitrary<unknown> {
  const kind = [type].flat()[0];
  if (kind === 'object') return maps;
  if (kind === 'integer') {
    const edges = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 2 ** 53, -(2 ** 53), 0];
    return fc.oneof(fc.maxSafeInteger(), fc.constantFrom(...edges));
  }
  if (words !== undefined) return edited(fc.constantFrom(...words));
  if (format === 'date-time') return edited(fc.constantFrom(...goodTimes.flat(), ...badTimes.flat(2)));
  if (format === 'uri') return edited(fc.constantFrom(...goodUrls, ...badUrls.flat(2)));
  if (pattern.includes('#')) return edited(fc.constantFrom('#09afAF'));
  return texts(maxLength);
}

/** Lines of a kind, each with one field set to a generated value. */
function linesOf(kind: ImportKind, field: string, schema: FieldSchema, seed: number) {
  const good: Record<string, unknown> = {
    ...smallest[kind],
    ...(kind === 'brands' && { partner_id: 'acme' }),
    ...(field === 'updated_at' && { created_at: '0001-01-01T00:00:00Z' }),
  };
  const values = fc.oneof(
    { weight: 9, arbitrary: valuesOf(schema) },
    { weight: 1, arbitrary: notTexts },
    { weight: 1, arbitrary: fc.constant(good[field]) },
  );
  const sampled = fc.sample(values, { numRuns: valuesOfField, seed });
  return sampled.map((value, line) => ({ line, value: { id: `R${line}`, ...good, [field]: value } }));
}

const tables = ['brands', 'balances', 'grants', 'deleted_brands', 'deleted_balances'];

/** Rows of one database, and those of them that the tables of another one refuse, which checks them. */
function compareRows(written: string, checking: string) {
  using from = new DatabaseSync(written);
  using to = new DatabaseSync(checking);
  const refused: string[] = [];
  let rows = 0;
  to.exec('begin');
  for (const table of tables) {
    const selected = from.prepare(`select * from ${table}`);
    selected.setReadBigInts(true);
    const columns = selected.columns().flatMap(({ name }) => (name === 'record' ? [] : name));
    const insert = to.prepare(`insert into ${table} (${columns}) values (${columns.map(() => '?')})`);
    for (const row of selected.iterate()) {
      rows += 1;
      try {
        insert.run(...columns.map((column) => row[column]!));
      } catch (error) {
        refused.push(`${table}: ${error}: ${inspect(row)}`);
      }
    }
  }
  return { rows, refused };
}

const folder = temporaryFolder(wholeFile);
const empty = join(folder, 'empty.db');
const made = openSqlite(empty, 'sandbox', toCreate);
await made.createPartner({ id: 'acme', name: 'Acme', created_at: createdAt }, byTest);
await made.close();

const columns = Object.entries(kinds).flatMap(([kind, { schema }]) =>
  Object.entries(schema.properties).map(([field, of]) => [kind as ImportKind, field, of] as const),
);

for (const [kind, field, schema] of columns) {
  test(`the table takes what an import of ${kind} takes, whatever ${field} has`, async (t) => {
    const [written, checking] = [1, 2].map(() => join(temporaryFolder(t), 'test.db')) as [string, string];
    for (const path of [written, checking]) copyFileSync(empty, path);
    const store = openSqlite(written, 'sandbox', {});
    t.after(() => store.close());
    const check = createRecordCheck(store, { kind, personalData: 'allow' });
    const run = await store.beginImport(kind);
    const seed = Date.now() % 2 ** 31;
    const lines = linesOf(kind, field, schema, seed);
    let taken = 0;
    for (let start = 0; start < lines.length; start += linesOfBatch) {
      const checked = await check(lines.slice(start, start + linesOfBatch));
      const rows = checked.filter(({ rejections }) => rejections.length === 0).map(({ row }) => row);
      taken += rows.length;
      await run.stage(rows);
    }
    assert.ok(taken > 0 && taken < valuesOfField, `${taken} of ${valuesOfField} lines taken`);
    await run.write({ mode: 'keep', skipsRejected: true });
    await run.end();
    const { rows, refused } = compareRows(written, checking);
    assert.deepEqual(refused, [], `with the seed ${seed}`);
    assert.ok(rows > 0);
  });
}
