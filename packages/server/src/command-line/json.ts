import { escapeUnprintable } from '../lib/text.ts';
import type { Output } from './output.ts';

/** JSON for standard output. A terminal shows it, too, and must not obey what a name may hold. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return process.stdout.isTTY ? escapeUnprintable(text) : text;
}

/**
 * A document around one long list, written as the list grows: a hundred thousand records need no more memory
 * than those that are added at once. Before the first of them nothing is written.
 */
export function growingJson(write: Output['write'], opening: string) {
  let isBegun = false;
  return {
    add: async (records: readonly unknown[]) => {
      if (records.length === 0) return;
      const lines = records.map((record) => jsonText(record)).join(',\n');
      await write(`${isBegun ? ',' : opening}\n${lines}`);
      isBegun = true;
    },
    /** Where the rest of the list did not come: what is said of it stands on a line of its own. */
    cut: async () => {
      if (isBegun) await write('\n');
    },
    end: (closing: string) => write(`${isBegun ? '\n' : opening}${closing}\n`),
  };
}
