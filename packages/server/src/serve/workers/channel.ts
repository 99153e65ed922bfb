/** Questions and answers between the supervisor and a worker, over the channel that Node opens. */
import type { ListingName } from '@partner-network/contract/operations';
import type { Decided } from '../../limiter/port.ts';
import type { MetricRead } from '../../observability/metric.ts';

/** Every question. A worker asks `admit`, the supervisor the others. */
interface Questions {
  admit(request: { readonly operation: ListingName; readonly partnerId: string }): Decided;
  metrics(): readonly MetricRead[];
  drain(): void;
  stop(): void;
}

type Name = keyof Questions;
type Answer<N extends Name> = ReturnType<Questions[N]>;

export type Answers = {
  readonly [N in Name]?: (...about: Parameters<Questions[N]>) => Promise<Answer<N>> | Answer<N>;
};

/** `process` in a worker, or the `Worker` in the supervisor. */
interface OtherSide {
  send?(message: Message, onSent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: Message) => void): unknown;
}

interface Message {
  readonly id: number;
  readonly question?: Name;
  readonly about?: readonly unknown[];
  readonly answer?: unknown;
  /** Set instead of `answer` if the other side failed. */
  readonly fault?: string;
}

export type Ask = <N extends Name>(question: N, ...about: Parameters<Questions[N]>) => Promise<Answer<N>>;

export function openChannel(other: OtherSide, answers: Answers): Ask {
  const waiting = new Map<number, PromiseWithResolvers<never>>();
  let lastId = 0;

  async function replyTo({ id, question, about }: Message): Promise<Message> {
    try {
      return { id, answer: await answers[question!]!(...(about as [never])) };
    } catch (error) {
      return { id, fault: String(error) };
    }
  }

  other.on('message', async (message) => {
    if (message.question !== undefined) {
      // An error means that the other side is gone, which does not matter.
      other.send?.(await replyTo(message), () => {});
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.fault === undefined) asked?.resolve(message.answer as never);
    else asked?.reject(new Error(message.fault));
  });

  return (question, ...about) => {
    const id = ++lastId;
    const asked = Promise.withResolvers<never>();
    waiting.set(id, asked);
    other.send?.({ id, question, about }, (error) => {
      if (error === null) return;
      waiting.delete(id);
      asked.reject(error);
    });
    return asked.promise;
  };
}
