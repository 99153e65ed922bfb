import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { type Clone, shellBlocks } from './clone.ts';

/** Commands that would change or close the reader's terminal, unless they are indented in parentheses. */
const closing = /^(umask|set) |(?<!-)\bexit\b/m;

export type Page = ReturnType<typeof openPage>;
type Adapt = (block: string) => string;

/**
 * Runs the command blocks of a document one after the other, as if pasted into one terminal: variables of a
 * block are set in the next blocks, and so are its functions.
 */
export function openPage(clone: Clone, document: string, blocks = shellBlocks(document)) {
  // Each block runs in its own shell, which loads the variables of the previous block from a file.
  const left = `.left-by-${basename(document)}`;
  // Some of the variables are read-only.
  const load = `if [ -e ${left} ]; then . ./${left} 2> /dev/null || true; fi`;
  const goOn = (block: string) => `${load}\n${block}\n{ declare -p; declare -f; } > ${left}`;
  const take = () => {
    const block = blocks.shift() ?? assert.fail(`${document} has fewer blocks than are expected of it`);
    assert.doesNotMatch(block, closing, 'this would close or change the terminal of the reader');
    assert.doesNotMatch(block, /[^']postgres:/, "the reader's address may have an &");
    return block;
  };
  return {
    /** Runs the next block, checks its output, and resolves to it. */
    next: async (expected: RegExp, adapt: Adapt = (block) => block) => {
      const block = take();
      const printed = await clone.run(goOn(adapt(block)));
      assert.match(printed, expected, block);
      return printed;
    },
    /** Runs the next block, which must fail and print this. It stays the next block. */
    fails: async (expected: RegExp, adapt: Adapt) => {
      const block = adapt(blocks[0] ?? '');
      await assert.rejects(clone.run(goOn(block)), ({ message }: Error) => expected.test(message));
    },
    /** Starts the next block, whose last line is `serve` or `admin`; resolves when it listens. */
    serve: (adapt: Adapt = (block) => block) => {
      const lines = adapt(take()).split('\n');
      const service = lines.pop()!;
      return clone.start(`${goOn(lines.join('\n'))}\n${service}`, /(Serving|Administering) production at/);
    },
    /** Checks that no block is left. */
    end: () => assert.deepEqual(blocks, [], `${document} has more blocks than are expected of it`),
  };
}
