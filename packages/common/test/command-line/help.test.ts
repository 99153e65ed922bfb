import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve } from '../../../operator/src/commands/serve.ts';
import { describedCommands } from '../../../partner-network/src/main.ts';
import { helpColumns, helpOf, wrap } from '../../src/command-line/help.ts';
import { parseLine } from '../../src/command-line/parse.ts';

const wordsOf = (text: string) => text.split(/\s+/);

test('wraps the help at the width of the terminal, under the start of each text', () => {
  const endless = helpOf('partner-network serve', 'Serve.', serve, 10_000);
  // 60 columns have no room for two columns, so each text is below its name.
  for (const [columns, indent] of [
    [60, 6],
    [100, 30],
  ] as const) {
    const help = helpOf('partner-network serve', 'Serve.', serve, columns);
    assert.deepEqual(wordsOf(help), wordsOf(endless));
    const lines = help.split('\n');
    for (const line of lines) assert.ok(line.length <= columns, line);
    const indents = lines.flatMap((line) => /^ {3,}/.exec(line)?.[0].length ?? []);
    assert.deepEqual([...new Set(indents)], [indent]);
  }
});

test('keeps a word whole that is longer than a line', () => {
  const address = 'https://network.example/docs';
  assert.deepEqual(wrap(`see ${address} now`, 12), ['see', address, 'now']);
});

test('uses the width of a terminal, at least 40 columns, and 100 columns in a pipe', () => {
  assert.deepEqual(
    [{ columns: 81 }, { columns: 20 }, { columns: 0 }, {}].map(helpColumns),
    [80, 40, 100, 100],
  );
});

test('every example in the help is a valid command line', async () => {
  const commands = (await describedCommands()).flatMap((group) => group.commands);
  assert.ok(commands.some(({ examples }) => examples.length > 0));
  for (const { name, command, examples, help } of commands) {
    for (const example of examples) {
      assert.ok(help.endsWith(['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n')), help);
      const words = example
        .replace(/ >> .*/, '')
        .split(' ')
        .slice(1 + name.split(' ').length);
      assert.deepEqual(parseLine(command, words, { PARTNER_NETWORK_API_KEY: 'key' }).problems, [], example);
    }
  }
});
