import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFailed, run } from '../../../testkit/fixtures/run.ts';

const database = ['--environment', '--database'];
const service = ['--host', '--port', '--public-url', '--brands-rate', '--balances-rate', '--log-level'];
const shared = ['--redis'];
const operations = ['--ops-host', '--ops-port', '--drain-delay'];
const call = [
  '--limit',
  '--cursor',
  '--all',
  '--json',
  '--curl',
  '--base-url',
  '\\[PARTNER_NETWORK_BASE_URL]',
  'PARTNER_NETWORK_API_KEY',
];

/** Every command, with the words and flags that its help must name. */
const commands = {
  sandbox: ['--port', '--data'],
  serve: [...database, ...service, ...shared, ...operations],
  migrate: [...database, '--json'],
  backup: ['FILE', ...database, '--json'],
  doctor: [...database, ...service, ...shared, ...operations, '--json'],
  'partners create': ['--name', '--id', ...database, '--json'],
  'partners list': [...database, '--json'],
  'partners disable': ['ID', ...database, '--json'],
  'partners enable': ['ID', ...database, '--json'],
  'partners export': [...database, '--json'],
  'partners import': ['FILE', '--dry-run', ...database, '--json'],
  'keys create': ['--partner', '--scope', '--name', '--expires-at', ...database, '--json'],
  'keys list': ['--partner', ...database, '--json'],
  'keys revoke': ['KEY_ID', ...database, '--json'],
  'keys rotate': ['KEY_ID', '--overlap', ...database, '--json'],
  'cursor-key rotate': ['--discard-old', ...database, '--json'],
  'cursor-key list': [...database, '--json'],
  'grants create': ['--partner', '--customer', '--id', '--expires-at', ...database, '--json'],
  'grants list': ['--partner', '--customer', ...database, '--json'],
  'grants revoke': ['GRANT_ID', ...database, '--json'],
  'brands check-images': ['--partner', '--allow-private', ...database, '--json'],
  'brands list': ['--reference-id', ...call],
  'balances list': ['--customer', '--type', '--grant-id', ...call],
  'import brands': [
    'FILE',
    '--partner',
    '--skip-invalid',
    '--dry-run',
    '--personal-data',
    ...database,
    '--json',
  ],
  'import balances': ['FILE', '--skip-invalid', '--dry-run', '--personal-data', ...database, '--json'],
  'import grants': ['FILE', '--skip-invalid', '--dry-run', '--personal-data', ...database, '--json'],
  'receipts list': [
    '--partner ID',
    '--key ID',
    '--customer ID',
    '--since TIME',
    '--limit N',
    ...database,
    '--json',
  ],
  'receipts prune': ['--older-than DURATION', '--dry-run', ...database, '--json'],
  'export brands': ['--partner', ...database, '--json'],
  'export balances': [...database, '--json'],
  'export grants': [...database, '--json'],
};

for (const [name, named] of Object.entries(commands)) {
  test(`tells what "${name}" takes, also beside what is wrong, and does nothing else`, async () => {
    const { status, stdout, stderr } = await run([...name.split(' '), '--nonsense', '--help']);
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.ok(stdout.startsWith(`Usage: partner-network ${name}`), stdout);
    for (const word of [...named, '--help']) assert.match(stdout, new RegExp(`(^|\\s)${word}(\\s|$)`, 'm'));
  });
}

test('lists every command in its help, and how to ask for the version', async () => {
  const { status, stdout } = await run(['--help']);
  assert.equal(status, 0);
  for (const name of Object.keys(commands)) assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
  assert.match(stdout, / --version tells the version\./);
});

test('lists the commands of a group in the help of the group', async () => {
  const { status, stdout } = await run(['keys', '--help']);
  assert.equal(status, 0);
  for (const name of ['create', 'list', 'revoke', 'rotate'])
    assert.match(stdout, new RegExp(`^  keys ${name} `, 'm'));
  assert.doesNotMatch(stdout, /^ {2}grants/m);
});

test('says what there is when no command is given, as a mistake', async () => {
  assertFailed(await run([]), 2, /partners create/, /sandbox/);
});

test('names the nearest command when there is none of that name', async () => {
  assertFailed(await run(['key', 'rotat', 'KEY_1']), 2, /no command "key rotat".*"keys rotate"/);
  assertFailed(await run(['partners', 'lst', '--json']), 2, /no command "partners lst".*"partners list"/);
});
