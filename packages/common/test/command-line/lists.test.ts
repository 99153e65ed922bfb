/** The lists of all commands on a real terminal: nothing wraps, and what matters is there at any width. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { digestOfKey } from '../../../service/src/auth.ts';
import { byTest, createdAt, future, past } from '../../../testkit/fixtures/fixture.ts';
import { type CommandLine, commandLine, withPartners } from '../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';
import { partnerVariables } from '../../../testkit/service/partner.ts';
import { startTestService } from '../../../testkit/service/service.ts';
import { commandLineBounds } from '../../src/bounds/common.ts';
import { newId } from '../../src/ids.ts';

const { listShown } = commandLineBounds;

/** The columns that no terminal of 60 columns leaves out, and one of their longest cells. */
const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'partners list': { STATUS: 'disabled' },
  'keys list': { STATUS: 'revoked' },
  'admin-keys list': { STATUS: 'active' },
  'grants list --customer CUSTOMER_01943ad894e00000a08ff49b6f772632': { STATUS: 'REVOKED' },
  'audit list': { ACTION: 'partners disable', REASON: 'ticket 1' },
  'receipts list': { OUTCOME: 'CUSTOMER_GRANT_NOT_FOUND' },
  'usage list': { CODE: 'CUSTOMER_GRANT_NOT_FOUND', COUNT: '1234567' },
  'cursor-key list': { STATUS: 'sealing' },
};

const customer = 'CUSTOMER_01943ad894e00000a08ff49b6f772632';
const names = [
  '日本語の長い名前のお店です',
  'cafe\u0301 '.repeat(6),
  '👨‍👩‍👧👍🏽🇩🇪',
  'Northwind Market and Sons',
];

/** Fills a database with issued ids, wide names, long codes and reasons. */
async function fill(line: CommandLine): Promise<void> {
  await line.inside(async (store) => {
    const by = { ...byTest, reason: 'ticket 1: the key was in a public repository' };
    for (const name of names) {
      const id = newId('PARTNER');
      await store.createPartner({ id, name, created_at: createdAt }, by);
      const key = { id: newId('KEY'), partner_id: id, last_four: 'abcd', created_at: createdAt } as const;
      await store.createKey({ ...key, name, scopes: ['BALANCES_READ', 'BRANDS_READ'] }, digestOfKey(id), by);
      const grant = { id: newId('GRANT'), partner_id: id, customer_id: customer, updated_at: createdAt };
      const status = { action: 'CHECKING_BALANCE', status: 'ACTIVE', expires_at: future } as const;
      await store.createGrant({ ...grant, ...status, created_at: createdAt }, by);
      const adminKey = { id: newId('ADMIN_KEY'), name, role: 'SUPPORT', last_four: 'abcd' } as const;
      await store.createAdminKey({ ...adminKey, created_at: createdAt }, digestOfKey(name), by);
      const answer = { partner_id: id, key_id: key.id, operation: 'listBalances' };
      const code = 'CUSTOMER_GRANT_NOT_FOUND';
      const receipt = { at: past, customer_id: customer, request_id: crypto.randomUUID(), outcome: code };
      await store.recordReceipts([{ ...answer, ...receipt, grant_id: grant.id }] as never);
      await store.recordUsage([{ ...answer, from: past, code, count: 1_234_567, peak: 50, slowest_ms: 12 }]);
      if (name !== names[0]) continue;
      await store.revokeKey(key.id, past, by);
      await store.revokeGrant(customer, grant.id, past, by);
      await store.setPartnerDisabled(id, past, { ...by, action: 'partners disable' });
    }
  });
  await line.json('cursor-key rotate');
}

interface Shown {
  readonly heading: string;
  readonly rows: readonly string[];
  readonly note: string;
}

/** The parts of a table, after a check that no line is wider than the terminal. */
function partsOf(text: string, columns: number): Shown {
  const [lines = '', note = ''] = stripVTControlCharacters(text).trimEnd().split('\n\n');
  for (const each of `${lines}\n${note}`.split('\n'))
    assert.ok(stringWidth(each) < columns, `${columns} columns: ${each}`);
  const [heading = '', ...rows] = lines.split('\n');
  return { heading, rows, note: note.replaceAll('\n', ' ') };
}

async function shownOn(t: TestContext, columns: number, words: string, line: CommandLine) {
  const terminal = onTerminal(t, columns, [...words.split(' '), '--database', line.database]);
  assert.equal(await terminal.ended, 0, terminal.shown());
  return terminal.shown();
}

test('every list fits, and keeps codes, counts, states and reasons', needsTerminal, async (t) => {
  const line = commandLine(t);
  await fill(line);
  for (const [words, cells] of Object.entries(kept)) {
    const headings = (await line.run(words)).stdout.split('\n')[0]!.split(/ {2,}/);
    const all = await Promise.all(
      [60, 80, 100, 160].map(async (columns) => {
        const { heading, rows, note } = partsOf(await shownOn(t, columns, words, line), columns);
        for (const [name, cell] of Object.entries(cells)) {
          assert.ok(heading.includes(name), `${words} at ${columns}: ${heading}`);
          assert.ok(rows.join('\n').includes(cell), `${words} at ${columns}: ${cell}`);
        }
        const missing = headings.filter((name) => !heading.includes(name));
        const [, leftOut = ''] = /Left out: ([^.]+)\./.exec(note) ?? [];
        assert.equal(leftOut, missing.join(', '), `${words} at ${columns}`);
        const isShort = rows.join('').includes('…') && words !== 'keys list';
        if (isShort || missing.length > 0) assert.match(note, /A wider window or --json shows all\.$/);
        assert.match(heading, /^(ID|TIME \(UTC\)|FROM \(UTC\)) /);
        if (heading.startsWith('ID'))
          assert.equal(new Set(rows.map((row) => row.trim().split(' ')[0])).size, rows.length);
        return headings.length - missing.length;
      }),
    );
    assert.deepEqual(
      all,
      all.toSorted((one, other) => one - other),
      `${words}: ${all}`,
    );
  }
});

test('a state has a color on a terminal, and none in a pipe', needsTerminal, async (t) => {
  const line = commandLine(t);
  await fill(line);
  const shown = await shownOn(t, 100, 'keys list', line);
  assert.match(shown, /\u001b\[32mactive\u001b\[39m /);
  assert.match(shown, /\u001b\[31mrevoked\u001b\[39m /);
  assert.doesNotMatch((await line.run('keys list')).stdout, /\u001b/);
});

test('the listings of a partner fit, too', needsTerminal, async (t) => {
  const { port, database } = await startTestService(t);
  const id = 'BRAND_01943ad894e00000a08ff49b6f772632';
  await database.execute('update brands set name = $1, id = $2 where id = $3', names[0]!, id, 'b2');
  for (const words of ['brands list', 'balances list --customer alice']) {
    for (const columns of [60, 80, 100, 160]) {
      const terminal = onTerminal(t, columns, words.split(' '), partnerVariables(port));
      assert.equal(await terminal.ended, 0);
      const { heading, rows } = partsOf(terminal.shown(), columns);
      assert.match(heading, words === 'brands list' ? /^ID +NAME/ : /^ID +AMOUNT/);
      assert.equal(rows.length, 3, terminal.shown());
    }
  }
});

test('conformance names its cases and results in a narrow terminal', needsTerminal, async (t) => {
  const { port } = await startTestService(t);
  const { PARTNER_NETWORK_BASE_URL: url, ...variables } = partnerVariables(port);
  const terminal = onTerminal(t, 60, ['conformance', `${url}`], variables);
  await terminal.ended;
  const { heading, rows } = partsOf(terminal.shown().split('\u001b[K').at(-1)!, 60);
  assert.match(heading, /^CASE +RESULT$/);
  assert.match(rows.join('\n'), /^headers\.own-request-id +passed$/m);
});

test('shows the newest 50 of a long list, and all with --all or --json', async (t) => {
  const line = await withPartners(t, []);
  const ids = Array.from({ length: listShown + 2 }, (_, index) => `p${String(index).padStart(2, '0')}`);
  await line.inside(async (store) => {
    for (const [index, id] of ids.entries())
      await store.createPartner({ id, name: id, created_at: new Date(index * 60_000).toISOString() }, byTest);
  });
  const shownBy = async (words: string) => {
    const { stdout, stderr } = await line.run(words);
    return [stdout.match(/^p\d\d/gm), stderr];
  };
  const newest = ids.toReversed();
  const more = 'There are more partners. --all shows all of them, --limit N the newest N.\n';
  assert.deepEqual(await shownBy('partners list'), [newest.slice(0, listShown), more]);
  assert.deepEqual(await shownBy('partners list --limit 2'), [newest.slice(0, 2), more]);
  assert.deepEqual(await shownBy('partners list --all'), [newest, '']);
  assert.deepEqual(
    (await line.json<{ id: string }[]>('partners list')).map(({ id }) => id),
    ids,
  );
  await line.fails('partners list --all --limit 3', 2, /^--limit and --all exclude each other\.$/m);
  const changes = async (words: string) => (await line.run(words)).stdout.trimEnd().split('\n').length - 1;
  assert.deepEqual([await changes('audit list'), await changes('audit list --all')], [listShown, ids.length]);
  assert.equal((await line.json<unknown[]>('audit list')).length, ids.length);
});
