/** What cases send requests with. */
import type { Given } from './given.ts';
import { type Answer, createSender } from './send.ts';

export type Probe = ReturnType<typeof createProbe>;

export function createProbe(base: URL, given: Given) {
  const sender = createSender(base);
  const shared = new Map<string, Promise<unknown>>();
  /** All answers of the run so far. */
  const answers: Answer[] = [];
  const kept = (answer: Answer) => {
    answers.push(answer);
    return answer;
  };

  /** `target` is a path below the base URL, and a query. An empty authorization is not sent. */
  function textOf(target: string, authorization = `Bearer ${given.PARTNER_NETWORK_API_KEY}`, method = 'GET') {
    return [
      `${method} ${base.pathname}${target} HTTP/1.1`,
      `Host: ${base.host}`,
      'User-Agent: partner-network-conformance',
      'Connection: close',
      ...(authorization === '' ? [] : [`Authorization: ${authorization}`]),
      '\r\n',
    ].join('\r\n');
  }

  const pathOf = (target: string) => target.split('?')[0];

  return {
    base,
    given,
    answers,
    get: async (...[target, ...rest]: Parameters<typeof textOf>) =>
      kept(await sender.send(textOf(target, ...rest), pathOf(target))),
    /** Sends a text as it is written; each character is one byte. */
    raw: async (text: string) => kept(await sender.send(text)),
    /** Sends the same request many times at once, without pace. */
    burst: async (count: number, target: string) =>
      (await sender.burst(count, textOf(target), pathOf(target))).map(kept),
    /** Makes a value once for all cases of the run. A failure is made again for the next case. */
    once: <Value>(name: string, make: () => Promise<Value>) => {
      const made = shared.get(name) ?? make();
      shared.set(name, made);
      made.catch(() => shared.delete(name));
      return made as Promise<Value>;
    },
  };
}
