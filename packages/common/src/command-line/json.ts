import { escapeUnprintable } from '../text.ts';
import type { Output } from './output.ts';

/** JSON for standard output. On a terminal, control characters in names are escaped. */
export function shownJson(text: string): string {
  return process.stdout.isTTY ? escapeUnprintable(text) : text;
}

export function jsonText(value: unknown, indent?: number): string {
  return shownJson(JSON.stringify(value, null, indent));
}

/**
 * A JSON document around one long list, written page by page: 100,000 records need only the memory of a page.
 * `opening` is written with the first record, so that a command that fails before it prints nothing.
 */
export function growingJson(write: Output['write'], opening: string) {
  let isStarted = false;
  return {
    add: async (records: readonly unknown[]) => {
      if (records.length === 0) return;
      const lines = records.map((record) => jsonText(record)).join(',\n');
      await write(`${isStarted ? ',' : opening}\n${lines}`);
      isStarted = true;
    },
    /** Ends the line of a list that stays incomplete, so that the error message gets its own line. */
    cut: async () => {
      if (isStarted) await write('\n');
    },
    end: (closing: string) => write(`${isStarted ? '\n' : opening}${closing}\n`),
  };
}
