/** What operators can do while a worker is down. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { until } from '../../../packages/testkit/fixtures/lifetime.ts';
import { assertFailed } from '../../../packages/testkit/fixtures/run.ts';
import type { ServedSandbox } from '../../../packages/testkit/fixtures/served.ts';
import { wholeFile } from '../../../packages/testkit/servers/postgres.ts';
import { type Stage, startStage, type Target } from './scene/stage.ts';

let stage: Stage;
let served: ServedSandbox;
/** A partner with brands and two customers on the worker that is up, and a customer on the other. */
let partner: string;
let near: readonly Target[];
let far: Target;

const noNode = /connection to the remote node owner@127\.0\.0\.1:\d+ failed .* Connection refused, 08006\)/;

before(async () => {
  stage = await startStage();
  served = await stage.serve(wholeFile);
  const down = stage.cluster.workers[0]!;
  const brands = stage.notOn(down).find(({ listing }) => listing === 'brands')!;
  partner = brands.owner;
  const isOurs = ({ key, listing }: Target) => key === brands.key && listing === 'balances';
  near = [brands, ...stage.notOn(down).filter(isOurs)];
  far = stage.on(down).find(isOurs)!;
  await down.kill();
});

/** Runs a command that must succeed, and returns its JSON. */
const json = async (...words: string[]) => JSON.parse(await stage.command(...words, '--json'));

const statusOf = async ({ path }: Target, key: string) => (await served.call(path, { key })).status;

/** The actions of the audit log with this target, the newest first. */
const audited = async (target: string): Promise<string[]> =>
  (await json('audit', 'list', '--target', target)).map(({ action }: { action: string }) => action);

test('a key can be created, rotated and revoked, which counts within 1 s', async () => {
  const scopes = ['--scope', 'BRANDS_READ', '--scope', 'BALANCES_READ'];
  const first = await json('keys', 'create', '--partner', partner, ...scopes);
  assert.equal(await statusOf(near[0]!, first.key), 200);
  const second = await json('keys', 'rotate', first.id, '--overlap', '0s');
  await until(1_000, async () => (await statusOf(near[0]!, first.key)) === 401);
  assert.equal(await statusOf(near[0]!, second.key), 200);
  await stage.command('keys', 'revoke', second.id);
  await until(1_000, async () => (await statusOf(near[0]!, second.key)) === 401);
  assert.deepEqual(await audited(second.id), ['keys revoke']);
  assert.deepEqual(await audited(first.id), ['keys rotate', 'keys create']);
});

test('the cursor key can be rotated', async () => {
  await stage.command('cursor-key', 'rotate');
  assert.deepEqual(await audited('cursor keys'), ['cursor-key rotate']);
});

test('a partner cannot be disabled, and the command says to revoke the keys', async () => {
  const remedy =
    /the partner's keys still work.* If a node of the database is down, revoke the keys instead\./;
  assertFailed(await stage.attempt('partners', 'disable', partner), 1, noNode, remedy);
  assert.equal(await statusOf(near[0]!, near[0]!.key), 200);
  assert.ok(!(await audited(partner)).includes('partners disable'));
});

test('grants of customers on other workers can be created and revoked, which counts within 1 s', async () => {
  const [, customer, another] = near;
  await stage.command('grants', 'revoke', `grant-${customer!.owner}`, '--customer', customer!.owner);
  await until(1_000, async () => (await statusOf(customer!, customer!.key)) === 403);
  await stage.command('grants', 'create', '--partner', partner, '--customer', customer!.owner);
  assert.equal(await statusOf(customer!, customer!.key), 200);
  await stage.command('grants', 'revoke', '--all', '--customer', another!.owner);
  await until(1_000, async () => (await statusOf(another!, another!.key)) === 403);
  assert.deepEqual(await audited(another!.owner), ['grants revoke']);
});

test('grants of its own customers cannot be changed: an error, and nothing half done', async () => {
  const id = `grant-${far.owner}`;
  const customer = ['--customer', far.owner];
  for (const words of [
    ['grants', 'revoke', id, ...customer],
    ['grants', 'revoke', '--all', ...customer],
    ['grants', 'create', '--id', 'too early', '--partner', partner, ...customer],
    ['customers', 'erase', far.owner, '--yes'],
  ]) {
    assertFailed(await stage.attempt(...words), 1, noNode);
  }
  for (const target of [id, far.owner, 'too early']) assert.deepEqual(await audited(target), []);
  await stage.cluster.workers[0]!.start();
  const [grant, another] = await json('grants', 'list', ...customer);
  assert.deepEqual([grant.id, grant.status, another], [id, 'ACTIVE', undefined]);
  await stage.command('grants', 'revoke', id, ...customer);
  await until(1_000, async () => (await statusOf(far, far.key)) === 403);
});
