/**
 * A proxy between the service and a server, which can fall silent, hang up, be slow, and lead elsewhere. It
 * keeps what clients send.
 */
import { connect, createServer, type Socket } from 'node:net';
import type { Lifetime } from '../fixtures/lifetime.ts';
import { listenOnAnyPort } from './free-port.ts';

interface Target {
  readonly port: number;
}

export type Network = Awaited<ReturnType<typeof startNetwork>>;

interface Link {
  readonly ends: readonly [near: Socket, far: Socket];
  /** The number of packets that it passes to the server before it falls silent. */
  packetsLeft: number;
  isForgotten: boolean;
  /** What the client has sent, in requests: data at first or after an answer begins another one. */
  readonly requests: Buffer[][];
  isAnswered: boolean;
}

export async function startNetwork(t: Lifetime, server: Target) {
  const links = new Set<Link>();
  const opened: Link[] = [];
  let target = server.port;
  let isSilent = false;
  let packets = Number.POSITIVE_INFINITY;
  let delayMs = 0;

  /** Passes bytes and the end of the connection from one socket to the other. */
  function pass(link: Link, from: Socket, to: Socket): void {
    const late: { readonly bytes: Buffer; readonly dueMs: number }[] = [];
    const deliver = () => {
      while (late.length > 0 && late[0]!.dueMs <= performance.now()) to.write(late.shift()!.bytes);
      if (late.length > 0) setTimeout(deliver, Math.max(0, late[0]!.dueMs - performance.now()));
    };
    const send = (bytes: Buffer) => {
      if (delayMs === 0 && late.length === 0) return to.write(bytes);
      if (late.push({ bytes, dueMs: performance.now() + delayMs }) === 1) setTimeout(deliver, delayMs);
    };
    from.on('data', (bytes) => {
      if (from === link.ends[0]) {
        link.packetsLeft -= 1;
        if (link.isAnswered) link.requests.push([]);
        link.requests.at(-1)!.push(bytes);
      }
      link.isAnswered = from === link.ends[1];
      if (link.packetsLeft >= 0) send(bytes);
    });
    from.on('error', () => {});
    from.on('close', () => {
      // On a silent line the end of a connection is not passed on either.
      if (!isSilent && !link.isForgotten) hangUp(link);
    });
  }

  function hangUp(link: Link): void {
    links.delete(link);
    for (const end of link.ends) end.destroy();
  }

  const listener = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const end of [near, far]) end.setNoDelay(true);
    const state = { packetsLeft: packets, isForgotten: false, requests: [], isAnswered: true };
    const link: Link = { ends: [near, far], ...state };
    links.add(link);
    opened.push(link);
    pass(link, near, far);
    pass(link, far, near);
    if (isSilent) for (const end of link.ends) end.pause();
  });
  t.after(() => links.forEach(hangUp));
  const port = await listenOnAnyPort(t, listener);
  return {
    port,
    /** The database's address through the proxy. */
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    /** The number of requests on all connections. */
    requests: () => opened.reduce((sum, { requests }) => sum + requests.length, 0),
    /** The data that each connection has sent to the server, in the order of opening. */
    sent: () => opened.map(({ requests }) => Buffer.concat(requests.flat())),
    /** New connections lead to another server. Existing ones stay. */
    leadTo(other: Target): void {
      target = other.port;
    },
    /** Nothing passes any more, not even the end of a connection. New connections open and are silent. */
    fallSilent(): void {
      isSilent = true;
      for (const { ends } of links) for (const end of ends) end.pause();
    },
    /** Ends the silence. */
    goOn(): void {
      isSilent = false;
      for (const link of links) {
        if (link.isForgotten) continue;
        if (link.ends.some((end) => end.destroyed)) hangUp(link);
        else for (const end of link.ends) end.resume();
      }
    },
    /** Delays everything by this time. */
    slowDown(ms: number): void {
      delayMs = ms;
    },
    /** New connections open, and are silent after their first packet. */
    greetOnly(): void {
      packets = 1;
    },
    /** New connections work. Old ones stay silent, as behind a router that was restarted. */
    forget(): void {
      isSilent = false;
      packets = Number.POSITIVE_INFINITY;
      for (const link of links) link.isForgotten = true;
    },
    /** Ends one connection, any of them. */
    hangUpOne(): void {
      const link = [...links][Math.floor(Math.random() * links.size)];
      if (link !== undefined) hangUp(link);
    },
    /** Ends all connections. */
    hangUp(): void {
      isSilent = false;
      for (const link of links) hangUp(link);
    },
  };
}
