/** What must not leak or last: keys in answers, logs and entries, and bodies without an end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { adminLimits } from '@partner-network/contract/limits';
import { readBody } from '../../../http/src/body.ts';
import type { Exchange } from '../../../http/src/handle.ts';
import type { Refusal } from '../../../http/src/refusal.ts';
import { adminKeyOf } from '../../../service/src/auth.ts';
import { keepKeysIn } from '../../../testkit/watch/logs.ts';
import { adminScene } from './scene.ts';

test('a key is in the answer that creates it, and in no other answer, log line or audit entry', async (t) => {
  const { send, put, post, lines, close } = await adminScene(t, 'sqlite');
  const body = { partner_id: 'acme', scopes: ['BRANDS_READ'] };
  const { secret } = (await put('/keys/K', body)).body;
  const administrative = adminKeyOf('sandbox', 'leaked'.padEnd(43, '0'));
  keepKeysIn(secret);
  keepKeysIn(administrative);
  const answers = [
    await put('/keys/K', body),
    await send('/keys/K'),
    await post('/keys/find', { key: secret }),
    await post('/keys/find', { key: secret, colour: 'red' }),
    await post('/keys/find', { key: administrative }),
    await send('/partners', { key: secret }),
    await send('/partners', { key: administrative }),
    await send(`/partners?cursor=${secret}`),
    await send(`/partners?${secret}=1`),
    await send(`/audit?since=${secret}`),
    await send('/audit'),
    await post('/keys/K/revoke'),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 400, 404, 401, 401, 400, 400, 400, 200, 200],
  );
  answers.push(await send(`/partners/${secret}`));
  await close();
  const said = JSON.stringify([answers.map((answer) => answer.body), lines()]);
  for (const key of [secret, administrative]) assert.ok(!said.includes(key.slice(-20)));
});

test('a body that does not arrive in time is a REQUEST_TIMEOUT, however slowly it is sent', async (t) => {
  const refused = Promise.withResolvers<Refusal>();
  const tooLarge = () => assert.fail('the body is small');
  const server = createServer((request) => {
    const exchange = { request, rawHeaders: request.rawHeaders } as unknown as Exchange;
    readBody(exchange, { bytes: 1_000, ms: 300, tooLarge }).then(() => refused.reject(), refused.resolve);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
  const drip = setInterval(() => socket.write('x'), 20);
  t.after(() => clearInterval(drip));
  assert.deepEqual(
    (await refused.promise).errors.map(({ code }) => code),
    ['REQUEST_TIMEOUT'],
  );
  assert.equal(adminLimits.bodySeconds, 30);
});
