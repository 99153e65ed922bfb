/** Calls to a worker thread, which answers them in order. */
import { once } from 'node:events';
import { parentPort, Worker } from 'node:worker_threads';
import { createCalls, type Message } from '@partner-network/common/calls';
import { OperatorError } from '@partner-network/common/errors';
import { AlreadyExists, StoreLocked, StoreUnavailable } from '../port.ts';

const end = 'end';
/** Errors that keep their class between threads. */
const classes = [AlreadyExists, OperatorError, StoreLocked, StoreUnavailable];

/** Starts the thread. It keeps the process alive only while a call is unanswered or it is being closed. */
export function startThread<Request, Result>(file: URL, workerData: unknown) {
  const thread = new Worker(file, { workerData });
  const exited = once(thread, 'exit').catch(() => {});
  const calls = createCalls((message) => thread.postMessage(message), undefined, classes);
  let failure: Error | undefined;
  let isClosing = false;

  thread.on('message', (message: Message) => {
    calls.receive(message);
    if (calls.waiting() === 0 && !isClosing) thread.unref();
  });

  function fail(error: Error): void {
    failure ??= error;
    calls.fail(failure);
  }
  thread.on('error', fail);
  thread.on('exit', () => fail(new Error('its thread has ended')));

  return {
    /** Why the thread has ended, or undefined while it runs. Later calls fail with this error. */
    failure: () => failure,

    async call(request: Request): Promise<Result> {
      if (failure !== undefined) throw failure;
      thread.ref();
      return calls.ask(request) as Promise<Result>;
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
  const { receive } = createCalls((message) => port.postMessage(message), handle);
  port.on('message', (message: Message | typeof end) => {
    if (message !== end) return receive(message);
    close();
    port.close();
  });
}
