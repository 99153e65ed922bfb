/** The floor: a server that sends the same bytes as our service and does nothing else. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { httpBounds } from '../../../../packages/common/src/bounds/http.ts';
import { temporaryFolder } from '../../../../packages/testkit/fixtures/folder.ts';
import { wholeRun } from '../../../lib/program.ts';
import { type Listener, startListener } from '../../lib/processes.ts';
import { type Answer, ask } from '../ask.ts';

export interface FloorAnswer {
  readonly status: number;
  readonly headers: string[];
  readonly body: string;
  readonly keepAliveMs: number;
}

/** Node adds these headers after all others. */
const addedByNode = ['Date', 'Connection', 'Keep-Alive'];

/** Everything but the value of the Date header. */
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
  writeFileSync(file, JSON.stringify({ ...answer, headers, keepAliveMs: httpBounds.keepAliveMs }));
  const program = fileURLToPath(new URL('./floor-server.ts', import.meta.url));
  const floor = await startListener([program, file]);
  const sent = await ask(floor.port, { path: '/' });
  if (comparable(sent) !== comparable(answer))
    throw new Error(`${name} does not send the same bytes as our service.`);
  return floor;
}
