import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { keys } from '../../testkit/fixtures/fixture.ts';
import { PartnerNetworkError } from '../src/index.ts';
import { startNetwork } from './support/network.ts';
import { offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

const apiKey = keys.acme;

/** Everything that is visible when a value is printed, copied or searched. */
function shownOf(thing: unknown): string {
  const shown = [String(thing), inspect(thing, { showHidden: true, depth: Infinity, getters: true })];
  const ofKind = Object.getPrototypeOf(Object(thing));
  shown.push(inspect(ofKind, { showHidden: true, depth: Infinity }), JSON.stringify(thing) ?? '');
  try {
    shown.push(inspect(structuredClone(thing), { depth: Infinity }));
  } catch (error) {
    shown.push(String(error));
  }
  return shown.join('\n');
}

function assertSecret(thing: unknown, key = apiKey): void {
  const shown = shownOf(thing);
  for (const part of [key, key.slice(8, -6), encodeURIComponent(key), btoa(key)]) {
    assert.ok(!shown.includes(part), 'the key shows');
  }
}

test('the client, a list and a page do not show the key', async (t) => {
  const network = (await startNetwork(t)).connect();
  const list = network.brands.list({ limit: 1 });
  const page = await list;
  for (const thing of [network, network.brands, network.balances, list, list.pages(), page, page.next]) {
    assertSecret(thing);
  }
});

/** The error of a call whose fetch throws this. */
const errorAfter = (fetch: () => never | Promise<never>) =>
  rejectionOf(offline({ apiKey, fetch, maxRetries: 0 }).brands.list(), PartnerNetworkError);

test('an error of a custom fetch is reported without the key', async () => {
  const request = { headers: { authorization: `Bearer ${apiKey}` } };
  const inner = Object.assign(new Error(`Bearer ${apiKey} was refused`), { request, code: 'EODD' });
  const outer = Object.assign(new TypeError('failed', { cause: inner }), { config: request });
  const named = Object.assign(new Error(''), { name: apiKey, code: `E${apiKey}` });
  for (const thrown of [inner, outer, named, apiKey, request, null, undefined, Object.create(null)]) {
    assertSecret(await errorAfter(() => Promise.reject(thrown)));
  }
  const error = await errorAfter(() => {
    throw outer;
  });
  assert.match(error.message, /did not answer: EODD\. Check baseUrl/);
  assert.equal((error.cause as Error).message, 'Bearer [API key] was refused');
  assertSecret(error);
});

test('an error without message and code is reported by its name', async () => {
  for (const [thrown, reported] of [
    [new AggregateError([]), 'AggregateError'],
    [Object.create(null), 'unknown reason'],
    ['a word', 'a word'],
  ]) {
    const { message } = await errorAfter(() => Promise.reject(thrown));
    assert.equal(
      message,
      `https://network.example/network/v1 did not answer: ${reported}. Check baseUrl, and that the service runs.`,
    );
  }
});

test('a chain of causes that contains itself is reported once', async () => {
  const looped = new Error(`Bearer ${apiKey} goes round`);
  looped.cause = new Error('and round', { cause: looped });
  const error = await errorAfter(() => Promise.reject(looped));
  assert.match(error.message, /round\. Check/);
  assertSecret(error);
});

test('hooks do not get the key, even if it was passed as a parameter', async (t) => {
  const { connect } = await startNetwork(t);
  const events: object[] = [];
  const note = (event: object) => void events.push(event);
  const network = connect({ onRequest: note, onResponse: note });
  await network.brands.list({ reference_id: apiKey });
  assert.equal(events.length, 2);
  assertSecret(events);
});

test('a key in the path of the address is not repeated', async () => {
  const baseUrl = `https://network.example/${apiKey}`;
  const fetch = () => Promise.reject(new Error('no'));
  const error = await rejectionOf(offline({ apiKey, baseUrl, fetch, maxRetries: 0 }).brands.list());
  assertSecret(error);
});
