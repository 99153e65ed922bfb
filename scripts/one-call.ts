/** One request as a partner sends it, once and not again, and whether it got its right answer. */
import { type Agent, request } from 'node:http';
import { keys } from '../packages/testkit/fixtures/fixture.ts';

export interface Call {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  /** What must come back. */
  readonly text: string;
}

/** A page of brands of the fixture, and what this instance answers to it. */
export async function callForBrands(port: number): Promise<Call> {
  const [path, key] = ['/network/v1/brands', keys.acme];
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { port, path, key, text: await answer.text() };
}

/** Resolves to what was wrong with the answer, if anything was. */
export function callOnce(agent: Agent, { port, path, key, text }: Call): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${key}` };
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    request({ agent, host: '127.0.0.1', port, path, headers, timeout: 10_000 })
      .on('timeout', () => resolve('no answer within 10 s'))
      .on('error', failed)
      .on('response', (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('error', failed);
        response.on('data', (chunk: string) => {
          received += chunk;
        });
        response.on('end', () => {
          const by = response.headers['x-answered-by'] ?? 'an instance';
          if (response.statusCode !== 200) resolve(`status ${response.statusCode} of ${by}`);
          else resolve(received === text ? undefined : 'another answer');
        });
      })
      .end();
  });
}
