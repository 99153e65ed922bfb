/**
 * The process of a floor: bare node:http that sends one answer from memory. Its arguments are the answer as
 * JSON, and the milliseconds that it computes before each answer.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpBounds } from '../../../packages/common/src/bounds/http.ts';
import type { Answer } from './requests.ts';

const { status, headers, body }: Answer = JSON.parse(process.argv[2]!);
// A string would be encoded again for each answer.
const bytes = Buffer.from(body);
const workMs = Number(process.argv[3]);

const server = createServer({ keepAliveTimeout: httpBounds.keepAliveMs }, (_request, response) => {
  const doneMs = performance.now() + workMs;
  while (performance.now() < doneMs);
  response.writeHead(status, [...headers]);
  response.end(bytes);
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
