/** Fuzzes the HTTP server: sends bytes on several real connections at a time. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { listBrands } from '@partner-network/contract/operations';
import fc from 'fast-check';
import { keys } from '../../packages/testkit/fixtures/fixture.ts';
import { answersIn, judgeAnswer, judgeConnection } from './http-answers.ts';
import { files, nothing, type Sent, sent } from './http-requests.ts';
import { serveFuzz } from './http-service.ts';
import type { Target } from './run.ts';

const connectionsAtOnce = 8;
const closedWithinMs = 10_000;

export const http: Target = {
  name: 'http',
  promise: 'each request gets one documented answer, or its connection is closed; the next one is served',
  batchRuns: 100,
  open: async (lifetime) => {
    const { port, leaks } = await serveFuzz(lifetime);
    // The first request for a file reads it from the disk. Node gives up a request that is not answered yet
    // when the client closes its side, as `exchange` does.
    for (const path of files) await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    return {
      property: fc.asyncProperty(
        fc.array(sent, { minLength: 1, maxLength: connectionsAtOnce }),
        async (connections) => {
          await Promise.all(connections.map((connection) => judge(port, connection)));
          assert.deepEqual(leaks, [], 'a key in the log');
        },
      ),
      afterBatch: () => judge(port, normalCall),
    };
  },
};

const normalCall: Sent = {
  whole: [
    {
      bytes: `GET ${listBrands.path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.acme}\r\n\r\n`,
      isHead: false,
      status: 200,
    },
  ],
  rest: nothing,
  pauseAt: 0,
};

async function judge(port: number, connection: Sent): Promise<void> {
  const bytes = Buffer.from(
    connection.whole.map((one) => one.bytes).join('') + connection.rest.bytes,
    'latin1',
  );
  const answers = answersIn(await exchange(port, bytes, connection.pauseAt));
  for (const answer of answers) judgeAnswer(answer);
  judgeConnection(connection, answers);
}

/** Sends the bytes and resolves to everything received until the service closes the connection. */
function exchange(port: number, bytes: Buffer, pauseAt: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      if (pauseAt === 0 || pauseAt >= bytes.length) return void socket.end(bytes);
      socket.write(bytes.subarray(0, pauseAt));
      setImmediate(() => socket.end(bytes.subarray(pauseAt)));
    });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection is open after ${closedWithinMs} ms`));
    }, closedWithinMs);
    socket.on('data', (chunk) => chunks.push(chunk));
    // The service may close the connection before it has read everything. Only the answers count.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
  });
}
