/** An address at which something other than Postgres answers must not end the process. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../../common/src/errors.ts';
import { listenOnAnyPort } from '../../../testkit/servers/free-port.ts';
import { fixtureDatabase, openServing } from '../../../testkit/service/database.ts';

/** What the server sends after the first bytes of a client. */
const answers: Readonly<Record<string, number[] | string>> = {
  'an unknown way to log in': [82, 0, 0, 0, 8, 0, 0, 0, 7],
  'rows that end too early': [84, 0, 0, 0, 6, 127, 255],
  'a web page': 'HTTP/1.1 400 Bad Request\r\n\r\n',
  'nothing and hangs up': '',
};

async function listenAndSend(t: TestContext, bytes: Uint8Array): Promise<string> {
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => (bytes.length === 0 ? socket.end() : socket.write(bytes)));
  });
  return `postgres://x@127.0.0.1:${await listenOnAnyPort(t, server)}/network`;
}

for (const [what, answer] of Object.entries(answers)) {
  test(`a server that sends ${what} is neither used as a database nor as a replica`, async (t) => {
    const url = await listenAndSend(t, Buffer.from(answer as string));
    await assert.rejects(openServing(t, url), OperatorError);

    const store = await openServing(t, await fixtureDatabase(t), { replicas: [url] });
    for (let round = 0; round < 5; round += 1) {
      const query = { partnerId: 'acme', referenceId: undefined, after: '', limit: 2 };
      assert.match((await store.listBrands(query)).records, /"id":"b1".*"id":"b2"/s);
    }
  });
}
