import { commandLineBounds } from '../../bounds/command-line.ts';
import type { Output } from '../../command-line/output.ts';

interface Waiting {
  /** The service said something, if only that it cannot answer now. */
  answered(response: { readonly status: number }): void;
  watch<P>(pages: AsyncIterable<P>): AsyncGenerator<P>;
}

/** Tells a person at a terminal, once, why nothing happens: the client tries again by itself. */
export function createWaiting(address: string, output: Output, isSeen = process.stderr.isTTY): Waiting {
  let status = 0;
  let isSaid = !isSeen;

  function say(): void {
    if (isSaid) return;
    isSaid = true;
    const answer = status >= 400 ? `, which answered ${status}` : '';
    output.remark(`Waiting for ${address}${answer}; Ctrl-C ends it.`);
  }

  return {
    answered: (response) => {
      status = response.status;
    },
    watch: async function* (pages) {
      let timer = setTimeout(say, commandLineBounds.silentWaitMs);
      try {
        for await (const page of pages) {
          clearTimeout(timer);
          yield page;
          timer = setTimeout(say, commandLineBounds.silentWaitMs);
        }
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
