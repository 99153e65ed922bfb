import assert from 'node:assert/strict';
import { type Clone, type RunningScript, shellBlocks } from './clone.ts';

/** A document whose blocks of commands are run one after the other, each with what it must print. */
export interface Page {
  /** Runs the next block, and resolves to what it printed. */
  next(printed: RegExp, adapt?: (block: string) => string): Promise<string>;
  /** Starts the next block, which serves, and resolves when it does. */
  serve(adapt?: (block: string) => string): Promise<RunningScript>;
  /** No block is left. */
  end(): void;
}

export function openPage(clone: Clone, document: string): Page {
  const blocks = shellBlocks(document);
  const take = () => blocks.shift() ?? assert.fail(`${document} has fewer blocks than are expected of it`);
  return {
    next: async (expected, adapt = (block) => block) => {
      const block = take();
      const printed = await clone.run(adapt(block));
      assert.match(printed, expected, block);
      return printed;
    },
    serve: (adapt = (block) => block) => clone.start(adapt(take()), /Serving production at/),
    end: () => assert.deepEqual(blocks, [], `${document} has more blocks than are expected of it`),
  };
}
