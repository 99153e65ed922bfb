/** Completion in the shells themselves: what a person types on a terminal, with the Tab key. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder, until } from '../../testkit/fixtures/lifetime.ts';
import { assertFailed, run } from '../../testkit/fixtures/run.ts';
import { needsTerminal, programOnTerminal } from '../../testkit/fixtures/terminal.ts';

const prompt = 'READY ';
/** Stands for the real command: it shows the words that it gets. */
const shown = `partner-network() { printf '<%s>' "$@"; echo; }; PS1='${prompt}'`;

/** How to start each shell without the settings of its user: its words, and what it runs first. */
const shells = {
  bash: { words: ['bash', '--noprofile', '--rcfile', 'start', '-i'], start: `${shown}\n. ./script` },
  zsh: {
    words: ['zsh', '-d', '-i'],
    start: `${shown}\nautoload -Uz compinit; compinit -u -D\n. ./script`,
  },
  fish: {
    words: ['fish', '--no-config', '-i', '-C', 'source start; source script'],
    start: `function partner-network; printf '<%s>' $argv; echo; end
      function fish_prompt; printf '${prompt}'; end`,
  },
};

/** What a person types, and the words that the command gets. */
const typed = {
  'ke\tcre\t--sco\tBAL\t': '<keys><create><--scope><BALANCES_READ>',
  'conf\t--prof\tspec\t': '<conformance><--profile><specification>',
  'import br\tgolden\t--undo-f\tgolden\t': '<import><brands><golden feed.csv><--undo-file><golden feed.csv>',
  'rehearse -- golden\t': '<rehearse><--><golden feed.csv>',
  'completion zs\t': '<completion><zsh>',
  '--ver\t': '<--version>',
  // The value of this flag is unknown, so neither files nor flags are offered.
  'partners create --name golden\t': '<partners><create><--name><golden>',
};

for (const [shell, { words, start }] of Object.entries(shells)) {
  const isMissing = spawnSync(shell, ['--version']).status !== 0 && `needs ${shell}`;
  const skip = isMissing || needsTerminal.skip;
  test(`completes commands, flags, values and files in ${shell}`, { skip }, async (t) => {
    const folder = temporaryFolder(t);
    const { stdout } = await run(['completion', shell]);
    const files = { script: stdout, start, '.zshrc': `cd '${folder}'; . ./start`, 'golden feed.csv': '' };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const inFolder = ['sh', '-c', `cd "${folder}" && exec "$@"`, 'sh', ...words];
    const terminal = programOnTerminal(t, 200, inFolder, { HOME: folder, ZDOTDIR: folder });
    const sees = (text: string) => until(20_000, async () => terminal.shown().includes(text));
    await sees(prompt);
    for (const [keys, expected] of Object.entries(typed)) {
      terminal.type(`partner-network ${keys}\r`);
      await sees(`${expected}\n`).catch(() => assert.fail(`${expected} is not in ${terminal.shown()}`));
    }
    terminal.type('exit\r');
    await terminal.ended;
  });
}

test('names the shells for which it has a script', async () => {
  assertFailed(await run('completion zshh'), 2, /SHELL must be one of bash, zsh, fish\. Did you mean zsh\?/);
});
