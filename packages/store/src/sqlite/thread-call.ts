/** Calls to a worker thread: the caller posts a message, and the thread answers the messages in order. */
import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import { OperatorError } from '@partner-network/common/operator-error';
import { StartOver, StoreUnavailable } from '../port.ts';

/** An error, whose class is lost between threads. */
interface Fault {
  readonly name: string;
  readonly message: string;
  readonly errcode?: number | undefined;
}

interface Answer<Result> {
  readonly result?: Result;
  readonly fault?: Fault;
}

const end = 'end';

/** Errors that keep their class. Those of the engine are translated by their code. */
const classes: Readonly<Record<string, new (message: string) => Error>> = {
  OperatorError,
  StartOver,
  StoreUnavailable,
};

function errorOf({ name, message, errcode }: Fault): Error {
  if (errcode !== undefined) return Object.assign(new Error(message), { errcode });
  return new (classes[name] ?? Error)(message);
}

/** Starts the thread. It keeps the process alive only while a call is unanswered or it is being closed. */
export function startThread<Request, Result>(file: URL, workerData: unknown) {
  const thread = new Worker(file, { workerData });
  const exited = once(thread, 'exit').catch(() => {});
  const unanswered: PromiseWithResolvers<Result>[] = [];
  let failure: Error | undefined;
  let isClosing = false;

  thread.on('message', ({ result, fault }: Answer<Result>) => {
    const call = unanswered.shift()!;
    if (unanswered.length === 0 && !isClosing) thread.unref();
    if (fault === undefined) call.resolve(result as Result);
    else call.reject(errorOf(fault));
  });

  function fail(error: Error): void {
    failure ??= error;
    for (const call of unanswered.splice(0)) call.reject(failure);
  }
  thread.on('error', fail);
  thread.on('exit', () => fail(new Error('its thread has ended')));

  return {
    /** Why the thread has ended, or undefined while it runs. Later calls fail with this error. */
    failure: () => failure,

    async call(request: Request): Promise<Result> {
      if (failure !== undefined) throw failure;
      const call = Promise.withResolvers<Result>();
      unanswered.push(call);
      thread.ref();
      thread.postMessage(request);
      return call.promise;
    },

    /** Finishes the calls made so far and ends the thread. */
    async close(): Promise<void> {
      isClosing = true;
      thread.ref();
      thread.postMessage(end);
      await exited;
    },
  };
}

/** The thread's side: answers each call with what `handle` returns or throws. */
export function answerCalls<Request>(handle: (request: Request) => unknown, close: () => void): void {
  const port = parentPort!;
  port.on('message', (request: Request | typeof end) => {
    if (request === end) {
      close();
      port.close();
      return;
    }
    try {
      port.postMessage({ result: handle(request) });
    } catch (error) {
      const { name } = (error as Error).constructor;
      // The engine's own error and its code.
      const { message, errcode } = ((error as Error).cause ?? error) as Error & { errcode?: number };
      port.postMessage({ fault: { name, message, errcode } });
    }
  });
}
