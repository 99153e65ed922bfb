/** Questions and answers between a supervisor and its workers, over the channel that Node opens for them. */
import type { Operation } from '@partner-network/contract/operations';
import type { Decision } from '../limiter/port.ts';
import type { MetricRead } from '../metric.ts';

/** What can be asked: about what, and what the answer is. */
interface Questions {
  admit: { readonly about: { operation: Operation['name']; partnerId: string }; readonly answer: Decision };
  metrics: { readonly about: undefined; readonly answer: MetricRead[] };
  stop: { readonly about: undefined; readonly answer: undefined };
}

type Name = keyof Questions;
type Answer<N extends Name> = Questions[N]['answer'];

export type Answers = {
  readonly [N in Name]?: (about: Questions[N]['about']) => Promise<Answer<N>> | Answer<N>;
};

/** This process as its supervisor sees it, or a worker as this process sees it. */
interface OtherSide {
  send?(message: Message, onSent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: Message) => void): unknown;
}

interface Message {
  readonly id: number;
  readonly question?: Name;
  readonly about?: unknown;
  readonly answer?: unknown;
}

export type Ask = <N extends Name>(question: N, about: Questions[N]['about']) => Promise<Answer<N>>;

export function openChannel(other: OtherSide, answers: Answers): Ask {
  const waiting = new Map<number, (answer: never) => void>();
  let lastId = 0;

  other.on('message', async ({ id, question, about, answer }) => {
    if (question === undefined) {
      waiting.get(id)?.(answer as never);
      waiting.delete(id);
    } else {
      const answered = await answers[question]?.(about as never);
      // Whoever is gone meanwhile does not need it.
      other.send?.({ id, answer: answered }, () => {});
    }
  });

  return (question, about) =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, resolve);
      other.send?.({ id, question, about }, (error) => {
        if (error === null) return;
        waiting.delete(id);
        reject(error);
      });
    });
}
