/** An answer of ours as it went over the wire, and the floor that sends the same. */

import { writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bounds } from '../../packages/server/src/bounds.ts';
import { temporaryFolder } from '../../packages/server/test/support/folder.ts';
import { wholeRun } from '../program.ts';
import type { Request } from './load.ts';
import { type Listener, startListener } from './processes.ts';

export interface Answer {
  readonly status: number;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly body: string;
}

export interface FloorAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
  readonly keepAliveMs: number;
}

/** Keeps its connections, as the load does: Node's answer to one that is about to close has other headers. */
const agent = new Agent({ keepAlive: true });
wholeRun.after(() => agent.destroy());

export async function ask(port: number, { path, key }: Request): Promise<Answer> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, agent }, resolve).on('error', reject);
  });
  return { status: response.statusCode!, headers: response.rawHeaders, body: await text(response) };
}

/** Node adds these by itself, after all others. */
const addedByNode = ['Date', 'Connection', 'Keep-Alive'];

/** The names and values of an answer, without those that are its own. */
function comparable({ status, headers, body }: Answer): string {
  const shown = headers.map((text, index) => (headers[index - 1] === 'Date' ? '' : text));
  return JSON.stringify([status, shown, body]);
}

export async function startFloor(name: string, answer: Answer): Promise<Listener> {
  const file = join(temporaryFolder(wholeRun), 'answer.json');
  const headers = answer.headers.filter((_, index) => {
    const field = answer.headers[index - (index % 2)]!;
    return !addedByNode.includes(field);
  });
  writeFileSync(file, JSON.stringify({ ...answer, headers, keepAliveMs: bounds.keepAliveMs }));
  const program = fileURLToPath(new URL('./floor-server.ts', import.meta.url));
  const floor = await startListener([program, file]);
  const sent = await ask(floor.port, { path: '/' });
  if (comparable(sent) !== comparable(answer)) throw new Error(`The ${name} sends something else than ours.`);
  return floor;
}
