import assert from 'node:assert/strict';
import { test } from 'node:test';
import { variables } from '../../../partner/src/conformance/given.ts';
import { describedCommands } from '../../../partner-network/src/main.ts';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';

const database = '--environment --database';
const onDatabase = `${database} --json`;
const changing = `--reason --actor [PARTNER_NETWORK_ACTOR] ${onDatabase}`;
const imported = `FILE --skip-invalid --dry-run --personal-data ${onDatabase}`;
const listening = '--host --port --public-url --brands-rate --balances-rate --log-level';
const scaling = '--redis --instances --replica --connections --prepared-statements --workers';
const serving = `${database} ${listening} ${scaling} --ops-host --ops-port --drain-delay`;
const address = '--base-url [PARTNER_NETWORK_BASE_URL] PARTNER_NETWORK_API_KEY';
const calling = `--limit --cursor --all --json --curl ${address}`;

/** Every command, with the words and flags that its help must name. */
const commands = {
  sandbox: '--port --data --actor',
  serve: serving,
  migrate: onDatabase,
  roles: '--distributed --json',
  ready: '--ops-host --ops-port --wait --pid --json',
  backup: `FILE ${onDatabase}`,
  doctor: `${serving} --json`,
  'partners create': `--name --id ${changing}`,
  'partners list': onDatabase,
  'partners disable': `ID ${changing}`,
  'partners enable': `ID ${changing}`,
  'partners rename': `ID NAME ${changing}`,
  'partners export': onDatabase,
  'partners import': `FILE --dry-run ${changing}`,
  'keys create': `--partner --scope --name --expires-at ${changing}`,
  'keys list': `--partner ${onDatabase}`,
  'keys find': `- ${onDatabase}`,
  'keys revoke': `KEY_ID ${changing}`,
  'keys rotate': `KEY_ID --overlap ${changing}`,
  'admin-keys create': `--name --role ROLE --expires-at ${changing}`,
  'admin-keys list': onDatabase,
  'admin-keys revoke': `ID ${changing}`,
  'admin-keys rotate': `ID --overlap ${changing}`,
  'cursor-key rotate': `--discard-old ${changing}`,
  'cursor-key list': onDatabase,
  'grants create': `--partner --customer --id --expires-at ${changing}`,
  'grants list': `--partner --customer --status ${onDatabase}`,
  'grants revoke': `[GRANT_ID] --customer --all ${changing}`,
  'customers erase': `CUSTOMER_ID --yes ${changing}`,
  'brands check-images': `--partner --allow-private ${onDatabase}`,
  'brands list': `--reference-id ${calling}`,
  'balances list': `--customer --type --grant-id ${calling}`,
  conformance: `BASE_URL --profile --burst --json --junit --html --expected-failures ${Object.keys(variables).join(' ')}`,
  rehearse: '[-- COMMAND] --scenario --listing --timeout --junit --json --list',
  'import brands': `--partner ${imported}`,
  'import balances': imported,
  'import grants': imported,
  'import erasures': `FILE ${changing}`,
  'audit list': `--since --until --actor --action --target --limit --follow ${onDatabase}`,
  'receipts list': `--partner ID --key --customer --request-id --outcome --since TIME --until --limit N ${onDatabase}`,
  'usage list': `--partner ID --key --by UNIT --since TIME --until --limit N ${onDatabase}`,
  'usage prune': `--older-than DURATION --dry-run --yes ${changing}`,
  'receipts prune': `--older-than DURATION --dry-run --yes ${changing}`,
  'export brands': `--partner ${onDatabase}`,
  'export balances': onDatabase,
  'export grants': onDatabase,
  'export erasures': onDatabase,
};

test('the help of every command names its words and flags', async () => {
  const described = (await describedCommands()).flatMap((group) => group.commands);
  assert.deepEqual(described.map(({ name }) => name).toSorted(), Object.keys(commands).toSorted());
  for (const { name, help } of described) {
    assert.ok(help.startsWith(`Usage: partner-network ${name}`), help);
    const words = new Set(help.split(/\s+/));
    const named = commands[name as keyof typeof commands].split(' ');
    for (const word of [...named, '--help']) assert.ok(words.has(word), `${name}: ${word}`);
  }
});

test('--help prints the help of a command, even beside a wrong flag, and does nothing else', async () => {
  for (const name of ['serve', 'keys create']) {
    const { status, stdout, stderr } = await run([...name.split(' '), '--nonsense', '--help']);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.ok(stdout.startsWith(`Usage: partner-network ${name}`), stdout);
  }
});

test('lists every command in its help, those of partners first, and how to get the version', async () => {
  const { status, stdout } = await run(['--help']);
  assert.equal(status, 0);
  for (const name of Object.keys(commands)) assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
  assert.match(stdout, /"partner-network --version" prints the version\./);
  const listed = [...stdout.matchAll(/^ {2}(\S+(?: \S+)?) {2,}/gm)].map(([, name]) => name);
  assert.equal(listed.length, Object.keys(commands).length);
  assert.deepEqual(listed.slice(0, 6), [
    'sandbox',
    'rehearse',
    'brands list',
    'balances list',
    'conformance',
    'serve',
  ]);
  const headings = stdout.match(/^For .*$/gm) ?? [];
  assert.match(headings.join('\n'), /^For partners, with an API key:(\nFor operators, .*:){4}$/);
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
  for (const words of [
    ['keys', '--help'],
    ['help', 'keys'],
  ]) {
    const { status, stdout } = await run(words);
    assert.equal(status, 0);
    for (const name of ['create', 'list', 'revoke', 'rotate'])
      assert.match(stdout, new RegExp(`^  keys ${name} `, 'm'));
    assert.doesNotMatch(stdout, /^ {2}grants|For partners/m);
  }
});

test('lists all commands if help on an unknown command is wanted', async () => {
  const { status, stdout } = await run(['nonsense', '--help']);
  assert.equal(status, 0);
  assert.equal(stdout, (await run(['--help'])).stdout);
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
  for (const [typed, name] of Object.entries(meant)) {
    const words = typed.split(' ');
    assertFailed(await run(words), 2, new RegExp(`^There is no command ".*"\\. Did you mean "${name}"\\? `));
  }
});
