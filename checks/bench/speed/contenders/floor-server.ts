/** The process of a floor: bare node:http that sends one answer from memory. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FloorAnswer } from './floor.ts';

const file = process.argv[2]!;
const { status, headers, body, keepAliveMs }: FloorAnswer = JSON.parse(readFileSync(file, 'utf8'));
// A string would be encoded again for each answer.
const bytes = Buffer.from(body);

const server = createServer({ keepAliveTimeout: keepAliveMs }, (_request, response) => {
  response.writeHead(status, headers);
  response.end(bytes);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
