/** Whether it is beyond doubt where a request ends and for whom it is, whatever it asks. */
import type { IncomingMessage } from 'node:http';
import { headerValues } from './headers.ts';

/** Whoever stands in front of us might read one that is not in another way, and what comes behind it, too. */
export function isWellFormed({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  // Node also parses versions that there are not, such as HTTP/2.0 on one line.
  const isVersionFit = httpVersion === '1.1' || httpVersion === '1.0';
  return isVersionFit && isHostFit(rawHeaders, httpVersion) && isBodyFit(rawHeaders, httpVersion);
}

/** What a host, a port and an address in brackets are made of. */
const hostForm = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

function isHostFit(rawHeaders: readonly string[], httpVersion: string): boolean {
  const [host, ...others] = headerValues(rawHeaders, 'host');
  if (host === undefined) return httpVersion === '1.0';
  return others.length === 0 && hostForm.test(host);
}

/** A body that is sent in any other way might have another end for others. */
function isBodyFit(rawHeaders: readonly string[], httpVersion: string): boolean {
  const [encoding, ...others] = headerValues(rawHeaders, 'transfer-encoding');
  if (encoding === undefined) return true;
  return others.length === 0 && httpVersion === '1.1' && encoding.toLowerCase() === 'chunked';
}
