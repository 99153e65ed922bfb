import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';
import { answering, holdSecondPage, partnerVariables } from '../../../testkit/service/partner.ts';
import { startTestService } from '../../../testkit/service/service.ts';

test(
  'shows a table that fits the terminal, page by page, and the number of records',
  needsTerminal,
  async (t) => {
    const held = holdSecondPage();
    const { port, database } = await startTestService(t, { reads: held.reads });
    const hostile = '日本語\u009b2J';
    await database.execute('update brands set name = $1 where id = $2', hostile, 'b2');
    const terminal = onTerminal(t, 57, ['brands', 'list', '--all', '--limit', '2'], partnerVariables(port));
    await until(30_000, () => terminal.shown().includes('b2'));
    assert.doesNotMatch(terminal.shown(), /b3/);
    // After two seconds, until the page comes.
    await until(30_000, () => /waiting for http:\S+ … 0:0\d/.test(terminal.shown()));
    held.release();
    assert.equal(await terminal.ended, 0);
    assert.equal(
      terminal.shown().replace(/(\r\u001b\[Kwaiting [^\r]*)+\r\u001b\[K/, ''),
      [
        'ID  NAME            REFERENCE  UPDATED (UTC)     COLOR',
        `b1  Café "Ünïcode…  ref one    2026-01-01 00:00  #Ab12eF`,
        'b2  日本語\ufffd2J       shared     2026-01-01 00:00',
        'b3  Empty metadata  shared     2026-01-01 00:00',
        '',
        '3 brands.',
        'Shortened: NAME. A wider window or --json shows all.',
        '',
      ].join('\n'),
    );
  },
);

test('formats money, and lets no record control the terminal', needsTerminal, async (t) => {
  const { port, database } = await startTestService(t);
  const name = 'a\u009b2Jb';
  await database.execute('update brands set name = $1 where id = $2', name, 'b2');
  const variables = partnerVariables(port);
  const strange = await answering(t, 200, JSON.stringify({ brands: [], cursor: name }));
  const [balances = '', brands = '', json = '', cursor = ''] = await Promise.all(
    [
      ['balances', 'list', '--customer', 'alice', '--limit', '2'],
      ['brands', 'list'],
      ['brands', 'list', '--json', '--reference-id', 'shared'],
      ['brands', 'list', '--json', '--base-url', strange],
    ].map(async (words) => {
      const terminal = onTerminal(t, 80, words, variables);
      assert.equal(await terminal.ended, 0);
      return terminal.shown();
    }),
  );
  assert.equal(
    balances,
    [
      'ID                    AMOUNT  TYPE      UPDATED (UTC)',
      'bal1  $90,071,992,547,409.91  CHECKING  2026-01-01 00:00',
      'bal2                   $0.00  CHECKING  2026-01-01 00:00',
      '',
      '2 balances.',
      'There are more balances. --all lists every page, and --json prints the next cursor.',
      '',
    ].join('\n'),
  );
  assert.match(brands, / #Ab12eF\n/);
  assert.doesNotMatch(brands + json, /[\u001b\u009b]/);
  assert.match(json, /"name":"a\\u009b2Jb"/);
  assert.equal(JSON.parse(json).brands[0].name, name);
  assert.equal(cursor, '{"brands":[],"cursor":"a\\u009b2Jb"}\n');
});
