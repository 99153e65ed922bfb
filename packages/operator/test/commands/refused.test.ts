/** Command lines that change nothing: with a wrong flag or argument, or a record that does not exist. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey } from '../../../service/src/auth.ts';
import { commandLine, withPartners } from '../../../testkit/fixtures/run.ts';

const past = '2001-01-01T00:00:00.000Z';
const notFuture = /^--expires-at must be a time in the future\.\n/;
const unnamed = /must not be \. or \.\.: no address can name it\./;
const grant = 'grants create --partner acme --customer';
const newKey = 'keys create --partner acme --scope BRANDS_READ';

const refused: readonly (readonly [line: string, ...said: RegExp[]])[] = [
  [`${newKey} --expires-at ${past}`, notFuture],
  [`keys rotate KEY_1 --overlap 0s --expires-at ${past}`, notFuture],
  [`admin-keys create --name ci --role ADMIN --expires-at ${past}`, notFuture],
  [`admin-keys rotate ADMIN_KEY_1 --expires-at ${past}`, notFuture],
  [`${grant} alice --expires-at ${past}`, notFuture],
  ['keys rotate KEY_1 --overlap 1day', /^--overlap must be/],
  ['keys rotate KEY_1 --overlap 4000000d', /^--overlap must be/],
  ['admin-keys create --role ADMIN', /^--name is required/],
  ['admin-keys create --name ci', /^--role is required/],
  ['admin-keys create --name ci --role admin', /^--role must be one of VIEWER, INGEST, SUPPORT, ADMIN/],
  ['grants list --status ACTIVE', /^Pass --partner, --customer or both/],
  ['grants list --status active', /^--status must be one of ACTIVE/],
  ['grants revoke', /^GRANT_ID is missing/],
  ['grants revoke --all', /^--all needs --customer/],
  ['grants revoke a --customer alice --all', /omit GRANT_ID/],
  ['partners create --name Acme --id ..', unnamed],
  [`${grant} .. --id g`, unnamed],
  [`${grant} c --id .`, unnamed],
  ['partners create --name \u00a0', /^--name must not be blank\./],
  ['partners rename acme \u00a0', /^NAME must not be blank\./],
  ['partners rename acme a\nb', /^NAME must have 1 to 1024 char/],
  ['partners rename acme', /^NAME is missing/],
  [`partners disable acme --actor ${'x'.repeat(257)}`, /^--actor must have 1 to 256 characters/],
  [`partners disable acme --reason ${newApiKey('production')}`, /^--reason must not contain an API key/],
  ...['\u00a0', 'ticket\u202e4711', 'a\u200bb'].map(
    (text) => [`partners disable acme --reason ${text}`, /^--reason must have a visible character/] as const,
  ),
  ['brands check-images', /^--partner is required/],
  ['import balances - --partner acme', /no flag --partner/],
  ['export balances --partner acme', /no flag --partner/],
  [
    'audit list --since yesterday --until 2026-02-30T00:00:00Z',
    /--since must be a/,
    /--until must be a time, such/,
  ],
  ['audit list --since 1h --until 2h', /^--since must be before --until: exchange them\./],
  ['audit list --follow --until 1h', /leave out --until/],
  [
    'receipts list --since yesterday --limit 0',
    /--since must be a time, such/,
    /--limit must be a whole number/,
  ],
  [
    'receipts list --request-id 7 --outcome OK --until now',
    /--request-id must be the value of an X-Request-Id header/,
    /--outcome must be GRANTED or the code of an error/,
    /--until must be a time/,
  ],
  ['receipts prune', /--older-than is required/],
  ['receipts prune --older-than 400', /--older-than must be a number and/],
  ['usage list --by week', /^--by must be one of hour, day/],
  ['migrate --distribute', /^--distribute needs a Postgres database\. /],
  ['migrate --roles', /^--roles needs a Postgres database\. /],
  ['doctor --workers 2', /^--workers needs a Postgres/],
  ['backup -', /^FILE must be a path: /],
  ['backup ', /^FILE is missing\./],
];

/** Commands for one partner, except the id of the partner at their end. */
const ofPartner = [
  ...[
    'partners disable',
    'partners enable',
    'keys create --scope BRANDS_READ --partner',
    'keys list --partner',
  ],
  ...['grants create --customer alice --partner', 'grants list --partner', 'receipts list --partner'],
  ...['import brands - --partner', 'export brands --partner', 'brands check-images --partner'],
];

const unknown: readonly (readonly [line: string, said: RegExp])[] = [
  ...ofPartner.map((words) => [`${words} nobody`, /^There is no partner nobody/] as const),
  ['partners rename nobody Name', /^There is no partner nobody/],
  ['keys rotate KEY_0', /^There is no key KEY_0/],
  ['keys revoke KEY_0', /^There is no key KEY_0/],
  // Without an error, a mistyped id would look like an unused key.
  ['receipts list --key KEY_0', /^There is no key KEY_0\. /],
  ['usage list --key KEY_0', /^There is no key KEY_0\. /],
  ['grants revoke h', /^There is no grant h/],
  ['grants revoke h --customer zoe', /^There is no grant h/],
];

test('refuses wrong flags and arguments with status 2, before the database is opened', async (t) => {
  const line = commandLine(t);
  for (const [words, ...said] of refused)
    await t.test(words.slice(0, 40), () => line.fails(words, 2, ...said));
});

test('reports a partner, key or grant that does not exist with status 1, and writes nothing', async (t) => {
  const line = await withPartners(t, ['acme']);
  for (const [words, said] of unknown)
    await t.test(words.slice(0, 40), () => line.fails(`${words} --json`, 1, said));
  assert.deepEqual(await line.json('grants list --partner acme'), []);
});

const empty = {
  'partners list':
    /^There are no partners\. Create one with "partner-network partners create --name NAME"\.\n$/,
  'keys list': /^There are no keys\.\n$/,
  'admin-keys list': /^There are no administrative keys\.\n$/,
  'grants list --customer alice': /^No grants found\.\n$/,
  'audit list': /^No changes found\.\n$/,
  'receipts list': /^No receipts found\.\n$/,
  'usage list': /^No counts found\.\n$/,
};

test('says in a sentence that a list is empty, and with --json in an empty list', async (t) => {
  const line = commandLine(t);
  await line.json('migrate');
  for (const [words, said] of Object.entries(empty)) {
    const { stdout, stderr } = await line.run(words);
    assert.match(stdout, said);
    assert.equal(stderr, '');
    assert.deepEqual(await line.json(words), []);
  }
});
