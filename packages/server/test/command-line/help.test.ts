import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpColumns, helpOf, wrap } from '../../src/command-line/help.ts';
import { parseLine } from '../../src/command-line/parse.ts';
import { listBrands } from '../../src/commands/as-partner/lists.ts';
import { importBrands } from '../../src/commands/import/import.ts';
import { createKey } from '../../src/commands/keys.ts';
import { sandbox } from '../../src/commands/sandbox.ts';
import { serve } from '../../src/commands/serve.ts';
import { helpTexts } from '../../src/main.ts';

const wordsOf = (text: string) => text.split(/\s+/);

test('wraps the help at the width of the terminal, under the start of each text', () => {
  const endless = helpOf('partner-network serve', 'Serve.', serve, 10_000);
  for (const columns of [60, 100]) {
    const help = helpOf('partner-network serve', 'Serve.', serve, columns);
    assert.deepEqual(wordsOf(help), wordsOf(endless));
    const lines = help.split('\n');
    assert.ok(lines.length > endless.split('\n').length);
    for (const line of lines) assert.ok(line.length <= columns, line);
    // A continued line starts where the text above it starts, or 6 cells from the left if that is too narrow.
    const indents = lines.flatMap((line) => /^ {3,}/.exec(line)?.[0].length ?? []);
    const start =
      columns === 60
        ? 6
        : 1 +
          endless
            .split('\n')
            .find((line) => / {2}--port /.test(line))!
            .lastIndexOf('  ') +
          1;
    assert.deepEqual([...new Set(indents)], [start]);
  }
});

test('keeps a word whole that is longer than a line', () => {
  assert.deepEqual(wrap('see https://network.example/docs now', 12), [
    'see',
    'https://network.example/docs',
    'now',
  ]);
});

test('uses the width of a terminal, at least 40 columns, and 100 columns in a pipe', () => {
  assert.deepEqual(
    [{ columns: 81 }, { columns: 20 }, { columns: 0 }, {}].map(helpColumns),
    [80, 40, 100, 100],
  );
});

test('every example in the help is a valid command line', async () => {
  const commands = {
    sandbox,
    serve,
    'keys create': createKey,
    'import brands': importBrands,
    'brands list': listBrands,
  };
  const texts = await helpTexts();
  const examples = texts.flatMap((text) => text.split('\nExamples:\n')[1]?.split('\n') ?? []);
  for (const [name, command] of Object.entries(commands)) {
    const own = examples.filter((line) => `${line} `.startsWith(`  partner-network ${name} `));
    assert.ok(own.length > 0, name);
    for (const line of own) {
      const words = line
        .trim()
        .split(' ')
        .slice(1 + name.split(' ').length);
      assert.deepEqual(parseLine(command, words, { PARTNER_NETWORK_API_KEY: 'key' }).problems, [], line);
      examples.splice(examples.indexOf(line), 1);
    }
  }
  assert.deepEqual(examples, []);
});
