import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CallOptions,
  ConnectionError,
  PartnerNetwork,
  type PartnerNetworkOptions,
  type RequestEvent,
  type ResponseEvent,
} from '../src/index.ts';
import { offline } from './support/offline.ts';
import { rejectionOf } from './support/rejection.ts';

const good = { apiKey: 'pn_test_x', baseUrl: 'https://network.example/network/v1' };

const noKeys = [' ', 'a b', 'a\tb', 'a\u0000b', 'é', 7, {}];
const noUrls = ['network.example/network/v1', '/network/v1', 'ftp://network.example/v1'];
const notPlain = ['https://pn_test_x@network.example/v1', 'https://:password@network.example/v1'];
const withMore = [`${good.baseUrl}?`, `${good.baseUrl}?limit=1`, `${good.baseUrl}#top`];
const noBaseUrl =
  /^baseUrl must be a URL like https:\/\/HOST\/network\/v1, without user, password, query or fragment\.$/;
const noNumbers = [-1, 0.5, Number.NaN, Infinity, 2 ** 31, '5'];

/** Values of an option of the client, and what is said about each. A key or an address is not repeated. */
const refused: readonly (readonly [name: string, values: readonly unknown[], message: RegExp])[] = [
  [
    'apiKey',
    [undefined, null, ''],
    /^apiKey is empty\. Pass it, or set the variable PARTNER_NETWORK_API_KEY\.$/,
  ],
  ['apiKey', noKeys, /^apiKey must be a complete API key, without spaces or line breaks\.$/],
  ['baseUrl', [undefined, null, ''], /^baseUrl is empty\. .* PARTNER_NETWORK_BASE_URL\.$/],
  ['baseUrl', [...noUrls, ...notPlain, ...withMore], noBaseUrl],
  ['timeoutMs', [...noNumbers, 0], /^timeoutMs must be a whole number from 1 to 2147483647\.$/],
  ['maxRetries', noNumbers, /^maxRetries must be a whole number from 0 to 100\.$/],
  ['maxRate', noNumbers, /^maxRate must be a whole number from 0 to 1000000\.$/],
  ['fetch', ['https://network.example'], /^fetch must be a function\.$/],
  ['onRequest', [5], /^onRequest must be a function\.$/],
  ['onResponse', [5], /^onResponse must be a function\.$/],
  ['timeout', [5], /^Unknown option timeout\. The options are apiKey, .*, timeoutMs, /],
];

/** Options of a call. The signal or its controller may stand in place of the options. */
const refusedCalls: readonly (readonly [options: object, message: RegExp])[] = [
  [{ timeoutMs: 0 }, /^timeoutMs must be a whole number from 1 to 2147483647\.$/],
  [{ maxRetries: -1 }, /^maxRetries must be a whole number from 0 to 100\.$/],
  [{ signal: new AbortController() }, /^signal must be an AbortSignal\. /],
  [{ signal: 5 }, /^signal must be an AbortSignal\. /],
  [{ maxRate: 5 }, /^Unknown option maxRate\. The options are signal, timeoutMs, maxRetries\.$/],
  [new AbortController(), /^Unknown option \w+\. /],
  [new AbortController().signal, /^Unknown option \w+\. /],
];

test('says in a sentence what is wrong with an option of the client', () => {
  for (const [name, values, message] of refused) {
    for (const value of values) {
      const isSaid = (error: Error) => {
        assert.match(error.message, message);
        assert.deepEqual([error.name, error.cause], ['PartnerNetworkError', undefined]);
        return true;
      };
      assert.throws(() => new PartnerNetwork({ ...good, [name]: value }), isSaid);
    }
  }
});

test('says in a sentence what is wrong with an option of a call', () => {
  for (const [options, message] of refusedCalls) {
    const list = () => offline().brands.list({}, options as CallOptions);
    assert.throws(list, { name: 'PartnerNetworkError', message });
  }
});

test('treats null as absent, for one option and for all options', async () => {
  const names = ['timeoutMs', 'maxRetries', 'maxRate', 'onRequest', 'onResponse'];
  const network = offline(Object.fromEntries(names.map((name) => [name, null])));
  const call = { signal: null, timeoutMs: null, maxRetries: null } as unknown as CallOptions;
  for (const options of [call, null as unknown as CallOptions, undefined]) {
    assert.equal((await network.brands.list({}, options)).brands.length, 1);
  }
  const PlainPartnerNetwork = PartnerNetwork as new (options?: null | object) => PartnerNetwork;
  for (const options of [undefined, null, {}, 'pn_test_x']) {
    assert.throws(() => new PlainPartnerNetwork(options as object), { name: 'PartnerNetworkError' });
  }
  assert.ok(new PlainPartnerNetwork({ ...good, fetch: null }));
});

test('accepts slashes at the end of the address', async () => {
  for (const end of ['', '/', '//']) {
    const urls: string[] = [];
    const network = offline({
      baseUrl: `${good.baseUrl}${end}`,
      onRequest: ({ url }) => void urls.push(url),
    });
    await network.brands.list();
    assert.deepEqual(urls, ['https://network.example/network/v1/brands']);
  }
});

test('sends the key in a header through the given fetch, and follows no redirect', async () => {
  let sent: [string, RequestInit] | undefined;
  const fetch = async (url: string, init: RequestInit) => {
    sent = [url, init];
    return Response.json({ brands: [] });
  };
  await offline({ apiKey: good.apiKey, fetch }).brands.list({ limit: 3 });
  const [url, { method = 'GET', headers, redirect, signal }] = sent!;
  assert.equal(url, 'https://network.example/network/v1/brands?limit=3');
  assert.deepEqual([method, redirect], ['GET', 'manual']);
  assert.deepEqual(headers, { accept: 'application/json', authorization: `Bearer ${good.apiKey}` });
  assert.ok(signal instanceof AbortSignal);
});

test('uses the global fetch at the time of the call, and fails at once if none exists', async (t) => {
  const network = new PartnerNetwork(good);
  const mocked = t.mock.property(globalThis, 'fetch');
  mocked.mock.mockImplementation(async () => Response.json({ brands: [] }));
  await network.brands.list();
  const message = 'This runtime has no global fetch. Pass one as the option fetch.';
  mocked.mock.mockImplementation(undefined as unknown as typeof fetch);
  await assert.rejects(network.brands.list(), { name: 'PartnerNetworkError', message });
});

test('calls the hooks for each attempt and each answer', async (t) => {
  t.mock.method(Math, 'random', () => 0);
  const events: (RequestEvent | ResponseEvent)[] = [];
  const note = (event: RequestEvent | ResponseEvent) => void events.push(event);
  const answers = [
    () => Promise.reject(new Error('no')),
    async () => new Response('', { status: 502 }),
    async () => Response.json({ brands: [] }, { headers: { 'x-request-id': 'r-1' } }),
  ];
  const fetch = () => answers.shift()!();
  await offline({ fetch, onRequest: note, onResponse: note }).brands.list({ limit: 3 });
  const durations = events.flatMap((event) => ('durationMs' in event ? [event.durationMs] : []));
  assert.ok(durations.length === 2 && durations.every((ms) => ms >= 0 && ms < 5_000));
  const url = 'https://network.example/network/v1/brands?limit=3';
  assert.deepEqual(
    events.map((event) => ({ ...event, durationMs: 0 })),
    [
      { method: 'GET', url, attempt: 1 },
      { method: 'GET', url, attempt: 2 },
      { method: 'GET', url, attempt: 2, status: 502, requestId: undefined },
      { method: 'GET', url, attempt: 3 },
      { method: 'GET', url, attempt: 3, status: 200, requestId: 'r-1' },
    ].map((event) => ({ ...event, durationMs: 0 })),
  );
});

test('a call rejects with the error of its hook, and is not retried', async (t) => {
  // An error that would be retried if the call itself had failed with it.
  const bug = new ConnectionError('a bug of the hook');
  const throwing = () => {
    throw bug;
  };
  for (const hooks of [
    { onRequest: throwing },
    { onResponse: throwing },
    { onRequest: () => Promise.reject(bug) },
    { onResponse: () => Promise.reject(bug) },
  ] satisfies Partial<PartnerNetworkOptions>[]) {
    const fetch = t.mock.fn(async () => Response.json({ brands: [] }));
    assert.equal(await rejectionOf(offline({ fetch, ...hooks }).brands.list()), bug);
    assert.equal(fetch.mock.callCount(), 'onRequest' in hooks ? 0 : 1);
  }
});

test('a call that is aborted in its hook sends nothing', async (t) => {
  const fetch = t.mock.fn(async () => Response.json({ brands: [] }));
  const controller = new AbortController();
  const onRequest = async () => controller.abort(new Error('enough'));
  const network = offline({ fetch, onRequest });
  await assert.rejects(network.brands.list({}, { signal: controller.signal }), { message: 'enough' });
  await new Promise(setImmediate);
  assert.equal(fetch.mock.callCount(), 0);
});

test('an option of a call overrides the option of the client', async (t) => {
  const fetch = t.mock.fn(async () => new Promise<Response>(() => {}));
  const network = offline({ fetch, timeoutMs: 60_000, maxRetries: 3 });
  const error = await rejectionOf(network.brands.list({}, { timeoutMs: 1, maxRetries: 0 }));
  assert.match(String(error), /^TimeoutError: .* within 1 ms\.$/);
  assert.equal(fetch.mock.callCount(), 1);
});

test('reads the key and the base URL from the environment, where there is one', async (t) => {
  const { process } = globalThis;
  t.after(() => {
    globalThis.process = process;
  });
  const sent: string[] = [];
  const fetch = async (url: string, { headers }: RequestInit) => {
    sent.push(url, new Headers(headers).get('authorization')!);
    return Response.json({ brands: [], balances: [] });
  };
  const env = { PARTNER_NETWORK_API_KEY: 'pn_test_y', PARTNER_NETWORK_BASE_URL: 'http://127.0.0.1/v1' };
  globalThis.process = { ...process, env };
  await new PartnerNetwork({ fetch }).brands.list();
  await new PartnerNetwork({ fetch, ...good }).balances.list({ customer_id: 'C', type: undefined });
  assert.deepEqual(sent, [
    'http://127.0.0.1/v1/brands',
    'Bearer pn_test_y',
    `${good.baseUrl}/balances?customer_id=C&type=CHECKING`,
    'Bearer pn_test_x',
  ]);
  // A page has no process, and a bundler may give it one without an environment.
  for (const other of [undefined, {}]) {
    Object.assign(globalThis, { process: other });
    let said: unknown;
    try {
      new PartnerNetwork();
    } catch (error) {
      said = error;
    }
    globalThis.process = process;
    assert.match(String(said), /^PartnerNetworkError: apiKey is empty\./);
  }
});
