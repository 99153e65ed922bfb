/** One request to a contender, and its answer with the headers as they were sent. */
import { Agent, get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { wholeRun } from '../../lib/program.ts';
import type { Request } from '../lib/load.ts';

export interface Answer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Keeps its connections, as the load does: Node sends other headers on a connection that it will close. */
const agent = new Agent({ keepAlive: true });
wholeRun.after(() => agent.destroy());

export async function ask(port: number, { path, key }: Request): Promise<Answer> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, agent }, resolve).on('error', reject);
  });
  return { status: response.statusCode!, headers: response.rawHeaders, body: await text(response) };
}
