/**
 * Which parameters may change between the pages of a walk: tried for every parameter of every listing. And
 * that each page is read within the share of its partner.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ListingOperation,
  listBalances,
  listBrands,
  listings,
  type Parameter,
} from '@partner-network/contract/operations';
import { scopes } from '@partner-network/contract/permissions';
import { Refusal } from '../../../http/src/refusal.ts';
import type { KeyOnFile, Reads } from '../../../store/src/port.ts';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import { exchangeOf } from '../../../testkit/fixtures/http.ts';
import { createKeyCache } from '../../src/auth.ts';
import { createCursors } from '../../src/cursors.ts';
import { listingRoute, type PipelineParts } from '../../src/serve/pipeline.ts';

const free = ['cursor', 'grant_id', 'limit'];

const standing = { expiresAt: undefined, isRevoked: false, isPartnerDisabled: false, limits: {} };
const key: KeyOnFile = { id: 'key', partnerId: 'acme', scopes, ...standing };

type Query = Readonly<Record<string, string>>;

/** Calls the pipeline of an operation; its pages have one record and always a cursor. */
function callerOf(operation: ListingOperation, nowMs = Date.now, overload?: PipelineParts['overload']) {
  const route = listingRoute(
    {
      environment: 'sandbox',
      store: { findKey: async () => key } as unknown as Reads,
      cursors: createCursors(() => [{ id: 1, secret: Buffer.alloc(32) }], 'sandbox', nowMs),
      limiters: {},
      journal: { add: () => {}, count: () => true, noteUse: () => {} },
      publicUrl: () => '',
      overload,
      nowMs,
    },
    createKeyCache(),
    { operation, page: async () => ({ records: '{}', bytes: 2, next: 'id' }) },
  );
  /** The cursor of the response, or the code of the refusal. */
  return async (query: Query): Promise<string> => {
    const authorization = ['Authorization', `Bearer ${keys.acme}`];
    const exchange = exchangeOf(authorization, String(new URLSearchParams(query)));
    try {
      return JSON.parse(String(await route.answer(exchange))).cursor;
    } catch (thrown) {
      assert.ok(thrown instanceof Refusal);
      return thrown.errors[0]!.code;
    }
  };
}

/** Two values that the parameter accepts. A listing with one enum value today may get another tomorrow. */
function valuesOf({ schema }: Parameter): [string, string] {
  if (schema.type === 'integer') return [String(schema.minimum), String(schema.maximum)];
  return schema.enum === undefined ? ['null', 'b'] : [schema.enum[0]!, 'ANOTHER'];
}

/** The operation, with a second value for each enum. */
function widened(operation: ListingOperation): ListingOperation {
  const parameters = Object.entries(operation.parameters).map(([name, parameter]) => {
    const { schema } = parameter;
    const isEnum = schema.type === 'string' && schema.enum !== undefined;
    return [name, isEnum ? { ...parameter, schema: { ...schema, enum: valuesOf(parameter) } } : parameter];
  });
  return { ...operation, parameters: Object.fromEntries(parameters) };
}

for (const operation of listings) {
  const call = callerOf(widened(operation));
  const parameters = Object.entries(operation.parameters).filter(([name]) => name !== 'cursor');
  const all = Object.fromEntries(parameters.map(([name, parameter]) => [name, valuesOf(parameter)[0]]));

  for (const [name, parameter] of parameters) {
    const isFree = free.includes(name);
    test(`${operation.id}: ${name} ${isFree ? 'may' : 'must not'} change between two pages`, async () => {
      const { [name]: _, ...without } = all;
      const queries: Query[] = [all, { ...all, [name]: valuesOf(parameter)[1] }];
      if (!parameter.required) queries.push(without);
      for (const first of queries) {
        const cursor = await call(first);
        for (const next of queries) {
          const answer = await call({ ...next, cursor });
          const isOpened = isFree || next === first;
          assert.equal(answer === 'INVALID_CURSOR', !isOpened, JSON.stringify([first, next]));
        }
      }
    });
  }
}

test('a cursor survives an upgrade that adds an optional filter', async () => {
  const { reference_id } = listBrands.parameters;
  const parameters = { ...listBrands.parameters, added: reference_id };
  const upgraded = callerOf({ ...listBrands, parameters });
  for (const query of [{}, { reference_id: 'ref' }] as Query[]) {
    const cursor = await callerOf(listBrands)(query);
    assert.notEqual(await upgraded({ ...query, cursor }), 'INVALID_CURSOR');
    assert.equal(await upgraded({ ...query, added: 'x', cursor }), 'INVALID_CURSOR');
  }
});

test('a cursor that an earlier version sealed still opens', async () => {
  const nowMs = () => Date.parse('2026-06-01T00:00:00Z');
  const brands = 'AcEuA3tQ297Y2vWGKvx439_KLCmbT8oMWJSafdQzSM2WAUF5CHuA_kmaJB4Gwg';
  const balances = 'ASvsMlzluLr5SichUXghN7a7KIZppgOqBTv7uB6VeX4oqTKQlUMwdivaLLIhrQ';
  const query = { customer_id: 'alice', type: 'CHECKING' };
  assert.notEqual(await callerOf(listBrands, nowMs)({ cursor: brands }), 'INVALID_CURSOR');
  assert.notEqual(await callerOf(listBalances, nowMs)({ ...query, cursor: balances }), 'INVALID_CURSOR');
});

test('a page is read within the share of its partner', async () => {
  const shares: string[] = [];
  const withinShare = <Page>(partnerId: string, work: () => Promise<Page>) => {
    shares.push(partnerId);
    return work();
  };
  await callerOf(listBrands, Date.now, { withinShare })({});
  assert.deepEqual(shares, ['acme']);
});
