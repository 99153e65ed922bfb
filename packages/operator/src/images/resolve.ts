/** Resolves a host to its addresses. A host that is an address resolves to itself. */
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { imagesBounds } from '@partner-network/common/bounds/operator';

/** Rejects if the host has no address. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Resolves by DNS only. The system's lookup would block one of Node's four pool threads while it waits for a
 * dead name server: other images would wait for a thread, and the process could not exit.
 */
export function resolveInDns(servers?: readonly string[]): Resolve {
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    // RFC 6761: localhost is always this machine, even if no name server knows it.
    if (/(^|\.)localhost\.?$/.test(host)) return ['127.0.0.1', '::1'];
    const resolver = new Resolver({ timeout: imagesBounds.dnsMs, tries: imagesBounds.dnsTries });
    if (servers !== undefined) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    throw answers.find((answer) => answer.status === 'rejected')?.reason;
  };
}

/** Resolves by the system, which on a private network may know names that the DNS does not. */
export const resolveBySystem: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};
