/** Whatever says when it is over: a test's context, or `{ after }` of node:test for a whole file. */
export interface Lifetime {
  after(work: () => Promise<void> | void): void;
}

/** Of what is no test: it is over when it is disposed of, last things first, also those added meanwhile. */
interface OwnLifetime extends Lifetime {
  [Symbol.asyncDispose](): Promise<void>;
}

export function openLifetime(): OwnLifetime {
  const endings: (() => Promise<void> | void)[] = [];
  return {
    after: (work) => endings.push(work),
    // One that fails keeps none of the others from being done.
    [Symbol.asyncDispose]: async () => {
      const failures: unknown[] = [];
      while (endings.length > 0) {
        try {
          await endings.pop()!();
        } catch (failure) {
          failures.push(failure);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
