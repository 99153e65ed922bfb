/** A network between the service and its database: it falls silent, hangs up, and leads elsewhere. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { PostgresServer } from '../support/postgres.ts';

interface Network {
  /** The database's address on this side of the network. */
  readonly url: string;
  /** From now on connections lead to another server; those that there are stay where they are. */
  leadTo(server: PostgresServer): void;
  /** Nothing passes any more, not even that somebody hung up. New connections come about, and are silent. */
  fallSilent(): void;
  /** All goes on as if nothing had been. */
  goOn(): void;
  /** New connections work. The old ones stay silent for ever, as behind a router that was restarted. */
  forget(): void;
  /** New connections come about, and are silent from then on. */
  greetOnly(): void;
  /** Ends all connections. */
  hangUp(): void;
}

interface Link {
  readonly ends: readonly [near: Socket, far: Socket];
  /** What it carries to the server before it falls silent: a greeting is the first packet. */
  packetsLeft: number;
  isForgotten: boolean;
}

export async function startNetwork(t: TestContext, server: PostgresServer): Promise<Network> {
  const links = new Set<Link>();
  let target = server.port;
  let isSilent = false;
  let packets = Number.POSITIVE_INFINITY;

  /** What one end sends goes to the other, and so does its end. */
  function pass(link: Link, from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      if (from === link.ends[0]) link.packetsLeft -= 1;
      if (link.packetsLeft >= 0) to.write(bytes);
    });
    from.on('error', () => {});
    from.on('close', () => {
      // To hang up is a message, too, which nobody gets on a silent line.
      if (!isSilent && !link.isForgotten) hangUp(link);
    });
  }

  function hangUp(link: Link): void {
    links.delete(link);
    for (const end of link.ends) end.destroy();
  }

  const listener = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const link: Link = { ends: [near, far], packetsLeft: packets, isForgotten: false };
    links.add(link);
    pass(link, near, far);
    pass(link, far, near);
    if (isSilent) for (const end of link.ends) end.pause();
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    listener.close();
    for (const link of links) hangUp(link);
  });

  const { port } = listener.address() as AddressInfo;
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    leadTo: (other) => {
      target = other.port;
    },
    fallSilent: () => {
      isSilent = true;
      for (const { ends } of links) for (const end of ends) end.pause();
    },
    goOn: () => {
      isSilent = false;
      for (const link of links) {
        if (link.isForgotten) continue;
        if (link.ends.some((end) => end.destroyed)) hangUp(link);
        else for (const end of link.ends) end.resume();
      }
    },
    greetOnly: () => {
      packets = 1;
    },
    forget: () => {
      isSilent = false;
      packets = Number.POSITIVE_INFINITY;
      for (const link of links) link.isForgotten = true;
    },
    hangUp: () => {
      isSilent = false;
      for (const link of links) hangUp(link);
    },
  };
}
