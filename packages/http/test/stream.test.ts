/** A body that is sent in parts, as the client reads it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { httpBounds } from '../../common/src/bounds/http.ts';
import type { Route } from '../src/handle.ts';
import { startSite } from './site.ts';

const path = '/file';
const part = 'x'.repeat(100_000);

/** A route that sends a number of parts, and what became of them. */
function streaming(parts: number, beforeEach: (index: number) => unknown = () => {}) {
  const made = { parts: 0, isEnded: false };
  async function* file() {
    try {
      for (let index = 0; index < parts; index += 1) {
        await beforeEach(index);
        made.parts += 1;
        yield part;
      }
    } finally {
      made.isEnded = true;
    }
  }
  const answer: Route['answer'] = async (exchange) => {
    exchange.stream = file();
    return '';
  };
  return { made, routes: { [path]: { answer, answerMs: () => 100 } } };
}

const until = async (isTrue: () => boolean) => {
  for (let turn = 0; turn < 500 && !isTrue(); turn += 1) await wait(10);
  assert.ok(isTrue());
};

test('a slow reader gets all, and no part is made long before it is read', async (t) => {
  const { made, routes } = streaming(1_000);
  const { port } = await startSite(t, { routes });
  const [response] = await once(request(`http://127.0.0.1:${port}${path}`).end(), 'response');
  let [bytes, mostAhead] = [0, 0];
  for await (const chunk of response) {
    bytes += chunk.length;
    mostAhead = Math.max(mostAhead, made.parts - bytes / part.length);
    // The kernel keeps some for the reader, up to its limit.
    if (bytes < 20 * part.length) await wait(5);
  }
  assert.equal(bytes, 1_000 * part.length);
  assert.ok(mostAhead < 120, `${mostAhead} parts were made before they were read`);
  assert.equal(made.isEnded, true);
});

test('a body may take longer than its first part must', async (t) => {
  const { routes } = streaming(4, () => wait(60));
  const { port } = await startSite(t, { routes });
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  assert.equal((await response.text()).length, 4 * part.length);
});

test('a client that leaves ends the work', async (t) => {
  const { made, routes } = streaming(100_000);
  const { port, lines } = await startSite(t, { routes });
  const asked = request(`http://127.0.0.1:${port}${path}`).end();
  await once(asked, 'response');
  asked.destroy();
  await until(() => made.isEnded);
  assert.ok(made.parts < 200, `${made.parts} parts`);
  await until(() => lines().length > 0);
  assert.deepEqual(
    lines().map(({ msg, code }) => [msg, code]),
    [['request', undefined]],
  );
});

test('a failure in the middle resets the connection, also for a client of HTTP/1.0', async (t) => {
  for (const version of ['1.0', '1.1']) {
    const { routes } = streaming(10, (index) => {
      if (index === 5) throw new Error('the database is gone');
    });
    const { port, lines } = await startSite(t, { routes });
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${path} HTTP/${version}\r\nHost: localhost\r\n\r\n`);
    socket.resume();
    const [error] = await once(socket, 'error');
    assert.equal(error.code, 'ECONNRESET', version);
    await until(() => lines().some(({ msg }) => msg === 'request'));
    const [failed, logged] = lines().slice(-2);
    assert.equal(failed?.msg, 'request failed');
    assert.equal(logged?.code, 'INTERNAL_SERVER_ERROR');
  }
});

test('HEAD has the headers alone, and makes no part', async (t) => {
  const { made, routes } = streaming(3);
  const { port } = await startSite(t, { routes });
  const url = `http://127.0.0.1:${port}${path}`;
  const { status, headers } = await fetch(url, { method: 'HEAD' });
  assert.deepEqual([status, headers.get('content-length'), made.parts], [200, null, 0]);
  assert.equal((await (await fetch(url)).text()).length, 3 * part.length);
});

test('a download that a shutdown or a stalled reader ends is reset, also for HTTP/1.0', async (t) => {
  for (const version of ['1.0', '1.1']) {
    for (const why of ['shutdown', 'stalled']) {
      const { made, routes } = streaming(100_000);
      const { port, server, close } = await startSite(t, { routes });
      if (why === 'stalled') server.timeout = 200;
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET ${path} HTTP/${version}\r\nHost: localhost\r\n\r\n`);
      await once(socket, 'readable');
      if (why === 'shutdown') {
        t.mock.timers.enable({ apis: ['setTimeout'] });
        void close();
        t.mock.timers.tick(httpBounds.drainMs);
        t.mock.timers.reset();
      }
      await until(() => made.isEnded);
      const end = once(socket.resume(), 'end');
      await assert.rejects(end, { code: 'ECONNRESET' }, `${version} ${why}`);
    }
  }
});
