import { type DestinationStream, type Logger, pino } from 'pino';

export function createLog(config: { readonly 'log-level': string }, destination?: DestinationStream): Logger {
  return pino({ level: config['log-level'], serializers: { err: toldFault } }, destination);
}

interface ToldFault {
  readonly type: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly stack?: string | undefined;
  readonly cause?: ToldFault | undefined;
}

/**
 * What the log tells of a fault. The library would copy all fields of an error, and a driver's can hold a row
 * (`detail`), a statement or its values.
 */
function toldFault(fault: unknown): ToldFault {
  if (!(fault instanceof Error)) return { type: typeof fault, message: 'not an error' };
  const { message, stack, cause, code } = fault as NodeJS.ErrnoException;
  return {
    type: fault.constructor.name,
    message: withoutKeys(message),
    code,
    stack: stack && withoutKeys(stack),
    ...(cause instanceof Error && { cause: toldFault(cause) }),
  };
}

/** No message of ours has a key in it; of those of others nobody knows. */
function withoutKeys(text: string): string {
  return text.replaceAll(/(?<=pn_(?:live|test)_)[0-9A-Za-z]+/g, '…');
}
