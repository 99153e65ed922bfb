import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pluck } from '../../../testkit/fixtures/pluck.ts';
import { type CommandLine, withPartners } from '../../../testkit/fixtures/run.ts';

type Grant = Readonly<Record<string, string>>;

const fields = ['id', 'partner_id', 'customer_id', 'action', 'status', 'created_at', 'updated_at'];

function createGrant(line: CommandLine, customer: string, ...words: string[]): Promise<Grant> {
  return line.json('grants create --partner acme --customer', customer, ...words);
}

test('creates an active grant with a new id or with the given id', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const issued = await createGrant(line, 'alice');
  assert.deepEqual(Object.keys(issued), fields);
  assert.match(issued.id!, /^GRANT_[0-9a-f]{32}$/);
  assert.deepEqual(
    [issued.partner_id, issued.customer_id, issued.action, issued.status],
    ['acme', 'alice', 'CHECKING_BALANCE', 'ACTIVE'],
  );
  assert.equal(issued.updated_at, issued.created_at);
  const given = await createGrant(line, 'alice', '--id', 'g', '--expires-at', '2999-01-01T00:00:00.1234Z');
  assert.deepEqual(Object.keys(given).toSorted(), [...fields, 'expires_at'].toSorted());
  assert.deepEqual([given.id, given.expires_at], ['g', '2999-01-01T00:00:00.123Z']);
});

test('lists the grants of a partner, of a customer, and those with a status', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  const active = await createGrant(line, 'alice', '--id', 'a');
  const past = { id: 'b', partner_id: 'acme', customer_id: 'alice', expires_at: '2001-01-01T00:00:00Z' };
  await line.run('import grants -', { input: JSON.stringify(past) });
  const ofZoe = await createGrant(line, 'zoe', '--id', 'a');
  const list = (words: string) => line.json<Grant[]>(`grants list ${words}`);
  const [, expired] = await list('--customer alice');
  assert.equal(expired?.id, 'b');
  for (const [words, expected] of [
    ['--partner acme', [active, expired, ofZoe]],
    ['--partner acme --customer zoe', [ofZoe]],
    ['--partner zenith', []],
    ['--customer alice', [active, expired]],
    ['--customer alice --status ACTIVE', [active]],
    ['--customer alice --status EXPIRED', [expired]],
  ] as const) {
    assert.deepEqual(await list(words), expected, words);
  }
  const ofPartner = await line.run('grants list --partner acme');
  const columns = 'EXPIRES +CREATED +REVOKED +BY';
  assert.match(ofPartner.stdout, new RegExp(`^ID +STATUS +CUSTOMER +${columns}\n`));
  assert.match(ofPartner.stdout, /\nb +EXPIRED +alice .*\na +ACTIVE +alice +- +\S+ +- +-\n$/);
  const ofCustomer = await line.run('grants list --customer alice');
  assert.match(
    ofCustomer.stdout,
    new RegExp(`^ID +STATUS +CUSTOMER +PARTNER +${columns}\nb +EXPIRED +alice +acme .*\na +ACTIVE `),
  );
});

test('an id is unique per customer; "revoke" needs --customer if several customers have it', async (t) => {
  const line = await withPartners(t, ['acme', 'zenith']);
  await createGrant(line, 'alice', '--id', 'g');
  const again = 'grants create --partner zenith --customer alice --id g';
  await line.fails(again, 1, /^Customer alice already has a grant g: /);
  await createGrant(line, 'zoe', '--id', 'g');
  await line.fails('grants revoke g --json', 1, /--customer/);
  assert.equal((await line.json<Grant>('grants revoke g --customer zoe')).customer_id, 'zoe');
  const grants = await line.json<Grant[]>('grants list --partner acme');
  const statuses = grants.map(({ customer_id, status }) => `${customer_id} ${status}`);
  assert.deepEqual(statuses, ['alice ACTIVE', 'zoe REVOKED']);
});

test('revokes a grant for good: the second time changes nothing and succeeds', async (t) => {
  const line = await withPartners(t, ['acme']);
  const grant = await createGrant(line, 'alice', '--id', 'g');
  const revoked = await line.json<Grant>('grants revoke g --actor eve');
  assert.deepEqual(revoked, { ...grant, status: 'REVOKED', updated_at: revoked.updated_at });
  assert.ok(revoked.updated_at! >= grant.updated_at!);
  assert.deepEqual(await line.json('grants revoke g'), revoked);
  const [listed] = await line.json<Grant[]>('grants list --partner acme');
  const { revoked_at, revoked_by, ...rest } = listed!;
  assert.deepEqual(rest, revoked);
  assert.ok(revoked_at! >= grant.created_at! && revoked_by === 'eve');
  await line.fails('grants revoke g --customer zoe', 1, /no grant g/);
});

test('revokes all grants of a customer', async (t) => {
  const line = await withPartners(t, ['acme']);
  for (const id of ['a', 'b']) await createGrant(line, 'alice', '--id', id);
  await createGrant(line, 'zoe', '--id', 'z');
  const words = 'grants revoke --customer alice --all';
  const revoked = await line.json<Grant[]>(words);
  assert.deepEqual(pluck(revoked, 'id'), ['a', 'b']);
  assert.deepEqual(pluck(revoked, 'status'), ['REVOKED', 'REVOKED']);
  assert.deepEqual(await line.json(words), []);
  assert.match((await line.run(words)).stdout, /^Customer alice has no active grants\./);
});

test('names who revoked a grant, but not who revoked it before its customer was erased', async (t) => {
  const line = await withPartners(t, ['acme']);
  const bring = async (kind: string, record: object) =>
    assert.equal((await line.run(['import', kind, '-'], { input: JSON.stringify(record) })).status, 0);
  // After the erasure of all records before it.
  let lineMs = Date.now();
  const nextTime = () => {
    lineMs += 10_000;
    return new Date(lineMs).toISOString();
  };
  // The id of the grant is that of its customer.
  const own = { customer_id: 'alice', id: 'alice', partner_id: 'acme', status: 'REVOKED' };
  const assertRevoked = async (expected: string | undefined, message?: string) => {
    const [grant] = await line.json<Grant[]>('grants list --customer alice');
    assert.equal(grant!.revoked_by, expected, message);
    if (expected === undefined) assert.equal(grant!.revoked_at, grant!.updated_at, message);
  };
  for (const [actor, which] of [
    ['eve', ['--customer', 'alice', '--all']],
    ['bob', ['alice']],
  ] as const) {
    await createGrant(line, 'alice', '--id', 'alice');
    await line.json('grants revoke', ...which, '--actor', actor);
    await assertRevoked(actor);
    await line.json('customers erase alice --yes');
    await bring('grants', { ...own, created_at: '2026-01-01T00:00:00Z', updated_at: nextTime() });
    await assertRevoked(undefined, 'after an erasure');
    await line.json('customers erase alice --yes');
  }
  await createGrant(line, 'alice', '--id', 'alice');
  await line.json('grants revoke alice --actor eve');
  await bring('erasures', { customer_id: 'alice', erased_at: nextTime() });
  await bring('grants', { ...own, updated_at: nextTime() });
  await assertRevoked(undefined, 'after imported erasures alone');
});
