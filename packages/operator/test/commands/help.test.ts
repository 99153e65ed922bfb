import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describedCommands } from '../../../partner-network/src/main.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';

test('--help prints the help of a command, even beside a wrong flag, and does nothing else', async () => {
  for (const name of ['serve', 'keys create']) {
    const { status, stdout, stderr } = await run(`${name} --nonsense --help`);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.ok(stdout.startsWith(`Usage: partner-network ${name}`), stdout);
  }
});

test('lists every command in its help, those of partners first, and how to get the version', async () => {
  const { status, stdout } = await run('--help');
  assert.equal(status, 0);
  const commands = (await describedCommands()).flatMap((group) => group.commands);
  assert.ok(commands.length > 30);
  for (const { name } of commands) assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
  assert.match(stdout, /"partner-network --version" prints the version\./);
  const listed = [...stdout.matchAll(/^ {2}(\S+(?: \S+)?) {2,}/gm)].map(([, name]) => name);
  assert.equal(listed.length, commands.length);
  assert.equal(listed.slice(0, 6).join(), 'sandbox,rehearse,brands list,balances list,conformance,serve');
  const headings = stdout.match(/^For .*$/gm) ?? [];
  assert.match(
    headings.join('\n'),
    /^For partners, with an API key:(\nFor operators, .*:){4}\nFor your shell:$/,
  );
});

test('wraps the help at the width of a terminal', needsTerminal, async (t) => {
  const terminal = onTerminal(t, 60, ['serve', '--help']);
  assert.equal(await terminal.ended, 0);
  // Examples stay on one line, so that they can be copied.
  const lines = terminal.shown().split('\nExamples:')[0]!.split('\n');
  assert.ok(lines.length > 50);
  for (const line of lines) assert.ok(line.length < 60, line);
});

test('lists the commands of a group in the help of the group', async () => {
  for (const words of ['keys --help', 'help keys']) {
    const { status, stdout } = await run(words);
    assert.equal(status, 0);
    assert.match(stdout, /^Usage: partner-network keys COMMAND \[FLAGS\]\n/);
    assert.match(stdout, /\n"partner-network keys COMMAND --help" describes/);
    const listed = [...stdout.matchAll(/^ {2}(\S+) {2}/gm)].map(([, name]) => name);
    assert.deepEqual(listed, ['create', 'list', 'find', 'revoke', 'rotate']);
  }
});

test('lists all commands if help on an unknown command is wanted', async () => {
  const { status, stdout } = await run('nonsense --help');
  assert.equal(status, 0);
  assert.equal(stdout, (await run('--help')).stdout);
});

test('lists the commands, with status 2, if no command is given', async () => {
  assertFailed(await run([]), 2, /partners create/, /sandbox/);
});

const meant = {
  'key rotat KEY_1': 'keys rotate',
  'partners lst --json': 'partners list',
  'list brands': 'brands list',
  'create key': 'keys create',
  brandslist: 'brands list',
  brand: 'brands',
};

test('suggests the nearest command for an unknown command, whatever the order of its words', async () => {
  for (const [typed, name] of Object.entries(meant))
    assertFailed(await run(typed), 2, new RegExp(`^There is no command ".*"\\. Did you mean "${name}"\\? `));
});

test('leads from a mistyped or misplaced flag to the right one', async () => {
  for (const [typed, said] of [
    [
      '--verson',
      /^There is no flag --verson\. Did you mean "--version"\? "partner-network --help" lists all/,
    ],
    ['partners list --jsn', /^There is no flag --jsn\. Did you mean --json\?\n/],
    ['partners list --env sandbox', /^There is no flag --env\. Did you mean --environment\?\n/],
    ['partners list -json', /^There is no flag -json\. Did you mean --json\?\n"/],
    [
      'keys crete --partner A',
      /^There is no command "keys crete"\. .*"partner-network keys --help" lists its/,
    ],
    ['--json partners list', /^Put flags after the command: partner-network partners list …/],
    ['--environment sandbox partners list', /^Put flags after the command: partner-network partners list …/],
  ] as const)
    assertFailed(await run(typed), 2, said);
});

test('the help of an import speaks of what it imports', async () => {
  for (const kind of ['balances', 'grants'])
    assert.doesNotMatch((await run(`import ${kind} --help`)).stdout, /brands/);
});
