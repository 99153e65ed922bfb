/** Questions to another process or thread. An answer is a message with the number of its question. */

export interface Message {
  readonly id: number;
  readonly question?: unknown;
  readonly answer?: unknown;
  /** Set instead of `answer` if the other side failed: the name of the error's class, and the message. */
  readonly failure?: readonly [name: string, message: string];
}

/**
 * One side. It sends its messages with `send`, and has to `receive` those of the other side. Errors become
 * plain ones on the way, except those of `classes`.
 */
export function createCalls(
  send: (message: Message) => void,
  answerTo: (question: never) => unknown = () => {},
  classes: readonly (new (message: string) => Error)[] = [],
) {
  const unanswered = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;

  async function reply({ id, question }: Message): Promise<void> {
    try {
      send({ id, answer: await answerTo(question as never) });
    } catch (error) {
      send({ id, failure: [(error as Error).constructor.name, (error as Error).message] });
    }
  }

  function settle({ id, answer, failure }: Message): void {
    const call = unanswered.get(id);
    unanswered.delete(id);
    const Kind = classes.find(({ name }) => name === failure?.[0]) ?? Error;
    if (failure === undefined) call?.resolve(answer);
    else call?.reject(new Kind(failure[1]));
  }

  return {
    /** The number of questions without an answer. */
    waiting: () => unanswered.size,
    ask(question: unknown): Promise<unknown> {
      const id = ++lastId;
      const call = Promise.withResolvers<unknown>();
      unanswered.set(id, call);
      send({ id, question });
      return call.promise;
    },
    receive: (message: Message): unknown =>
      message.question === undefined ? settle(message) : reply(message),
    /** Fails all questions: the other side is gone. */
    fail(error: Error): void {
      for (const call of unanswered.values()) call.reject(error);
      unanswered.clear();
    },
  };
}
