import type { IncomingMessage } from 'node:http';
import { keyPattern } from '@partner-network/contract/environments';

const keyForm = new RegExp(keyPattern);

/** The first text of the form of a key in the Authorization header, and in the rest of a request. */
export function keysIn({ url, headers: { authorization = '', ...others } }: IncomingMessage) {
  const keyIn = (text: string) => keyForm.exec(decoded(text))?.[0];
  return { inAuthorization: keyIn(authorization), elsewhere: keyIn(JSON.stringify([url, others])) };
}

/** Decodes percent-encoding where it is valid. */
export function decoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
