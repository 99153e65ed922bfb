import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { type Clone, type RunningScript, shellBlocks } from './clone.ts';

/**
 * A document whose blocks of commands are run one after the other, each with what it must print. They are
 * pasted into one terminal: what a block sets, the next ones find.
 */
export interface Page {
  /** Runs the next block, and resolves to what it printed. */
  next(printed: RegExp, adapt?: (block: string) => string): Promise<string>;
  /** Starts the next block, whose last line serves, and resolves when it does. */
  serve(adapt?: (block: string) => string): Promise<RunningScript>;
  /** No block is left. */
  end(): void;
}

/** What belongs into parentheses, with lines of its own that are indented. */
const closing = /^(umask|set) |(?<!-)\bexit\b/m;

export function openPage(clone: Clone, document: string): Page {
  const blocks = shellBlocks(document);
  const terminal = terminalOf(document);
  const take = () => {
    const block = blocks.shift() ?? assert.fail(`${document} has fewer blocks than are expected of it`);
    assert.doesNotMatch(block, closing, 'this would close the terminal that it is pasted into, or change it');
    return block;
  };
  return {
    next: async (expected, adapt = (block) => block) => {
      const block = take();
      const printed = await clone.run(terminal.goOn(adapt(block)));
      assert.match(printed, expected, block);
      return printed;
    },
    serve: (adapt = (block) => block) => {
      const lines = adapt(take()).split('\n');
      const service = lines.pop()!;
      return clone.start(`${terminal.goOn(lines.join('\n'))}\n${service}`, /Serving production at/);
    },
    end: () => assert.deepEqual(blocks, [], `${document} has more blocks than are expected of it`),
  };
}

/** A shell for each block, with the variables that the one before has left in a file. */
function terminalOf(document: string): { goOn(block: string): string } {
  const left = `.left-by-${basename(document)}`;
  return {
    goOn: (block) =>
      [
        // It has variables, too, that are the shell's own, and cannot be set.
        `if [ -e ${left} ]; then . ./${left} 2> /dev/null || true; fi`,
        block,
        `declare -p > ${left}`,
      ].join('\n'),
  };
}
