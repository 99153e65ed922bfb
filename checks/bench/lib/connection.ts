/** One HTTP client with little overhead: raw bytes on a socket, one request at a time. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Request {
  readonly path: string;
  readonly key?: string | undefined;
}

export function bytesOf({ path, key }: Request): Buffer {
  const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}\r\n`);
}

export type Connection = Awaited<ReturnType<typeof openConnection>>;

const nothing: Buffer = Buffer.alloc(0);

/**
 * Connects, and connects again after an answer with "Connection: close", which the service sends after 1,000
 * requests. `onLost` is called if the connection fails otherwise.
 */
export async function openConnection(port: number, onLost: (fault: Error) => void) {
  let onAnswer: ((status: string) => void) | undefined;
  let head = nothing;
  let status = '';
  let isLast = false;
  /** Bytes of the answer still to come; undefined until its head is complete. */
  let missing: number | undefined;
  let socket = dial();
  await once(socket, 'connect');

  function dial(): Socket {
    return connect({ port, host: '127.0.0.1', noDelay: true })
      .on('data', read)
      .on('error', onLost)
      .on('end', () => onLost(new Error('The service closed a connection.')));
  }

  function read(chunk: Buffer): void {
    let arrived = chunk;
    if (missing === undefined) {
      arrived = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const end = arrived.indexOf('\r\n\r\n');
      head = end === -1 ? arrived : nothing;
      if (end === -1) return;
      const text = arrived.toString('latin1', 0, end);
      status = text.slice(9, 12);
      isLast = text.includes('\r\nConnection: close');
      missing = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
    }
    missing -= arrived.length;
    if (missing > 0) return;
    missing = undefined;
    if (isLast) {
      socket.destroy();
      socket = dial();
    }
    const answered = onAnswer;
    onAnswer = undefined;
    answered?.(status);
  }

  return {
    /** Calls back with the status when the whole answer has arrived. */
    send: (request: Buffer, answered: (status: string) => void) => {
      onAnswer = answered;
      socket.write(request);
    },
    get isBusy() {
      return onAnswer !== undefined;
    },
    close: () => void socket.destroy(),
  };
}
