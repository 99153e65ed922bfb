import assert from 'node:assert/strict';
import { hostname, userInfo } from 'node:os';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { receiptAt } from '../../../store/test/suite/receipts.ts';
import { until } from '../../../testkit/fixtures/lifetime.ts';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { commandLine, run, start, withPartners } from '../../../testkit/fixtures/run.ts';
import { needsTerminal, onTerminal } from '../../../testkit/fixtures/terminal.ts';
import { connectTo } from '../../../testkit/servers/postgres.ts';
import { migratedDatabase } from '../../../testkit/service/database.ts';

interface Entry {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
}

test('every command that changes something is in the audit log, under its own name', async (t) => {
  const line = commandLine(t);
  const actions: string[] = [];
  const change = async (action: string, ...words: string[]) => {
    actions.push(action);
    return line.json<{ id: string }>(...action.split(' '), ...words);
  };
  await change('partners create', '--name', 'Acme', '--id', 'acme');
  await change('partners rename', 'acme', 'Zenith');
  await change('partners disable', 'acme');
  await change('partners enable', 'acme');
  const key = ['--partner', 'acme', '--scope', 'BRANDS_READ', '--name', 'eve@example.com'];
  const { id } = await change('keys create', ...key);
  const rotated = await change('keys rotate', id, '--overlap', '0s');
  await change('keys revoke', rotated.id);
  await change('grants create', '--partner', 'acme', '--customer', 'alice', '--id', 'g');
  await change('grants revoke', 'g');
  await change('customers erase', 'alice', '--yes');
  await change('cursor-key rotate');
  await line.inside((store) => store.recordReceipts([receiptAt(0)]));
  await change('receipts prune', '--older-than', '1s', '--yes');
  const { stdout: input } = await line.run('partners export');
  const renamed = input.replace('Zenith', 'Acme');
  await line.run('partners import -', { input: renamed });
  // These change nothing.
  await line.json(`keys revoke ${rotated.id}`);
  await line.run('partners import -', { input: renamed });
  await line.fails(`keys rotate ${id}`, 1, /is revoked/);

  const entries = await line.json<Entry[]>('audit list');
  assert.deepEqual(entries.map(({ action }) => action).toReversed(), [...actions, 'partners import']);
  assert.deepEqual(Object.keys(entries[0]!), ['at', 'actor', 'action', 'target', 'details']);
  assert.deepEqual([...new Set(entries.map(({ actor }) => actor))], [`${userInfo().username}@${hostname()}`]);
  const detailsOf = (name: string) => entries.find(({ action }) => action === name)?.details;
  assert.deepEqual(detailsOf('partners rename'), { from: 'Acme', to: 'Zenith' });
  assert.partialDeepStrictEqual(detailsOf('keys rotate'), {
    new_key_id: rotated.id,
    scopes: ['BRANDS_READ'],
  });
  assert.doesNotMatch(JSON.stringify(entries), /eve@example|pn_live|digest/);
});

test('leaves a partner name that looks like personal data out of the audit log', async (t) => {
  const line = commandLine(t);
  await line.json('partners create --name', 'Eve eve@example.com', '--id', 'acme');
  await line.json('partners rename acme Acme');
  const [rename, create] = await line.json<Entry[]>('audit list');
  assert.deepEqual([create?.details, rename?.details], [{}, { to: 'Acme' }]);
});

test('the actor is the flag or the variable; a list is filtered by the flag alone', async (t) => {
  const line = await withPartners(t, ['acme']);
  const variables = { PARTNER_NETWORK_ACTOR: 'deploy' };
  await line.run('partners disable acme --reason ticket', { variables });
  await line.run(['partners', 'enable', 'acme', '--actor', 'Ève 🦊'], { variables });
  const list = async (...words: string[]) => {
    const { stdout } = await line.run(['audit', 'list', '--json', ...words], { variables });
    return (JSON.parse(stdout) as Entry[]).map(({ actor, action }) => `${actor}: ${action}`);
  };
  const enabled = 'Ève 🦊: partners enable';
  const disabled = 'deploy: partners disable';
  assert.deepEqual(await list('--since', '1h'), [enabled, disabled, 'tester@test: sandbox']);
  assert.deepEqual(await list('--actor', 'deploy'), [disabled]);
  assert.deepEqual(await list('--action', 'partners enable', '--target', 'acme'), [enabled]);
  assert.deepEqual(await list('--until', '1h'), []);
  const { stdout } = await line.run('audit list --actor deploy');
  const row = '\\S+ +partners disable +ticket +acme +deploy +\\{\\} +-';
  assert.match(stdout, new RegExp(`^TIME +ACTION +REASON +TARGET +ACTOR +DETAILS +DB USER\n${row}\n$`));
  const more = await line.run('audit list --limit 2');
  assert.match(more.stderr, /^There are more changes\. --all shows all/);
});

test('says that a list from a time in the future is empty, and why', async (t) => {
  const line = await withPartners(t, ['acme']);
  const ahead = '--since is in the future: choose an earlier time.\n';
  for (const [log, what] of Object.entries({ audit: 'changes', receipts: 'receipts', usage: 'counts' })) {
    const { status, stdout, stderr } = await line.run(`${log} list --since 9999-01-01T00:00:00Z`);
    assert.deepEqual([status, stdout, stderr], [0, `No ${what} found.\n`, ahead]);
    assert.equal((await line.run(`${log} list --since 0s`)).stderr, '');
  }
});

test('erases a customer once it is confirmed, and reports an unknown customer', async (t) => {
  const line = await withPartners(t, ['acme']);
  for (const id of ['a', 'b']) {
    await line.json(`grants create --partner acme --customer alice --id ${id}`);
  }
  const asked =
    /^This deletes all balances and grants of customer alice for good\. Nothing was changed: pass/;
  await line.fails('customers erase alice', 1, asked);
  const erased = await line.json('customers erase alice --yes');
  assert.deepEqual(erased, { customer_id: 'alice', balances: 0, grants: 2 });
  assert.deepEqual(await line.json('grants list --customer alice'), []);
  const unknown =
    /^There is no balance or grant of customer alice\. .*"partner-network export erasures".*\n$/;
  await line.fails('customers erase alice --yes', 1, unknown);
});

test('asks on a terminal before it erases, and erases only after a yes', needsTerminal, async (t) => {
  const line = await withPartners(t, ['acme']);
  await line.json('grants create --partner acme --customer alice');
  const erase = ['customers', 'erase', 'alice', '--database', line.database];
  const answered = async (keys: string) => {
    const terminal = onTerminal(t, 80, erase);
    await until(20_000, async () => terminal.shown().includes('Continue? [y/N] '));
    terminal.type(keys);
    return { status: await terminal.ended, shown: terminal.shown() };
  };
  for (const keys of ['\r', '\u0003']) {
    const { status, shown } = await answered(keys);
    assert.equal(status, 1, shown);
    assert.match(stripVTControlCharacters(shown), /Nothing was changed\.\n$/);
  }
  const { status, shown } = await answered('y\r');
  assert.deepEqual([status, /Erased customer alice/.test(shown)], [0, true], shown);
});

test('--follow prints each change from now on as a line, until it is stopped', async (t) => {
  const line = await withPartners(t, ['before']);
  const words = ['audit', 'list', '--follow', '--action', 'partners create', '--database', line.database];
  const following = start(t, [...words, '--since', '1h']);
  // The filter leaves out what the fixture created.
  for (const id of ['one', 'two']) await line.json(`partners create --name N --id ${id}`);
  await line.json('partners disable one');
  await following.says('stdout', /"target":"two"/);
  following.signal('SIGTERM');
  assert.equal(await following.ended, 0);
  const { stdout } = following.texts();
  const entries = stdout.trim().split('\n');
  assert.deepEqual(
    pluck(
      entries.map((text) => JSON.parse(text)),
      'target',
    ),
    ['one', 'two'],
  );
});

test('--follow waits for a lost database, and leaves nothing out', async (t) => {
  const url = await migratedDatabase(t);
  const name = new URL(url).pathname.slice(1);
  const owner = await connectTo(t, url);
  const server = await connectTo(t, Object.assign(new URL(url), { pathname: 'postgres' }).href);
  const add = (target: string) =>
    owner.query(`insert into audit_log (at, actor, action, target, details)
      values (now(), 'eve', 'test', '${target}', '{}')`);
  await add('before');
  const words = ['audit', 'list', '--follow', '--since', '1h', '--environment', 'sandbox', '--database', url];
  const following = start(t, words);
  await following.says('stdout', /"target":"before"/);
  await server.query(`alter database ${name} allow_connections false`);
  await owner.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  await following.says('stderr', /Retrying until the database returns/);
  await add('meanwhile');
  await server.query(`alter database ${name} allow_connections true`);
  await following.says('stdout', /"target":"meanwhile"/);
  assert.match(following.texts().stderr, /The command continues\./);
  assert.equal(following.texts().stdout.match(/"target":"before"/g)?.length, 1);
});

test('shows the login of the database that wrote an entry', async (t) => {
  const url = await migratedDatabase(t);
  const owner = await connectTo(t, url);
  const { rows } = await owner.query(`insert into audit_log (at, actor, action, target, details)
    values (now(), 'eve', 'test', 'acme', '{}') returning db_user`);
  const { stdout } = await run(`audit list --environment sandbox --database ${url}`);
  assert.match(stdout, new RegExp(`^TIME .*\\n\\S+ +test +- +acme +eve +\\{\\} +${rows[0].db_user}\\n$`));
});
