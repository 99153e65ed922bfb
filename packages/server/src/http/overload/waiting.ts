import type { ServerResponse } from 'node:http';

/** A request in a queue, oldest first. Its client may hang up at any time. */
export interface Waiting {
  readonly response: ServerResponse;
  readonly sinceMs: number;
}

/** Removes requests from the front of a queue while `take` accepts them. Skips those whose client hung up. */
export function removeWhile<W extends Waiting>(queue: W[], take: (oldest: W) => boolean): void {
  while (queue.length > 0 && (queue[0]!.response.destroyed || take(queue[0]!))) queue.shift();
}
