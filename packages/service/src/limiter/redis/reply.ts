import { limiterBounds } from '@partner-network/common/bounds/service';

/** Resolves with Redis's reply, or with undefined if the reply is an error or takes over `redisBudgetMs`. */
export function inTime<T>(reply: Promise<T>, onLate = () => {}): Promise<T | undefined> {
  return new Promise((resolve) => {
    let giveUp: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // If this process was busy, the reply may already be in the socket. Node reads it before this runs.
      giveUp = setImmediate(() => {
        onLate();
        resolve(undefined);
      });
    }, limiterBounds.redisBudgetMs);
    const settle = (value?: T) => {
      clearTimeout(timer);
      clearImmediate(giveUp);
      resolve(value);
    };
    reply.then(settle, () => settle());
  });
}

/**
 * The kind of a Redis or network error, such as WRONGPASS or ECONNREFUSED. The rest of the message must not
 * be logged: Redis repeats in some errors what it was sent, which may be the password.
 */
export function kindOf(error: unknown): string | undefined {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? /^[A-Z]{2,}\b/.exec(message ?? '')?.[0];
}
