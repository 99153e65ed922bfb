/** The floor: bare node:http in a process of its own, which sends one answer from memory. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FloorAnswer } from './floor.ts';

const file = process.argv[2]!;
const { status, headers, body, keepAliveMs }: FloorAnswer = JSON.parse(readFileSync(file, 'utf8'));

// Bytes and not text, which would be encoded anew each time.
const bytes = Buffer.from(body);

const server = createServer({ keepAliveTimeout: keepAliveMs }, (_request, response) => {
  response.writeHead(status, headers);
  response.end(bytes);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
