/** The flags and variables of every command that a partner runs. */

import {
  flag,
  httpUrl,
  type Option,
  optional,
  orInFile,
  Problem,
  plainText,
  setting,
  variableOnly,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { lengths, pageSize } from '@partner-network/contract/limits';
import { sandboxAddress } from '@partner-network/contract/operations';

export const keyVariable = 'PARTNER_NETWORK_API_KEY';
export const addressVariable = 'PARTNER_NETWORK_BASE_URL';

/** The address of the service, and the flag or variable that set it, for error messages. */
export interface Address {
  readonly url: string;
  readonly setBy: string;
}

/** The default is a sandbox on this machine, so that a newcomer's first call needs only a key. */
const baseUrl = setting(
  'URL',
  addressVariable,
  httpUrl,
  sandboxAddress,
  'base URL of the service; without it, a sandbox on this machine',
);

const address: Option<Address> = {
  ...baseUrl,
  resolve: (texts, flags) => {
    const url = baseUrl.resolve(texts, flags);
    return url instanceof Problem
      ? url
      : { url, setBy: flags.has('base-url') ? '--base-url' : addressVariable };
  },
};

export const callOptions = {
  limit: {
    ...optional('N', wholeNumber(pageSize.min, pageSize.max), `records per page, at most ${pageSize.max}`),
    default: `${pageSize.default}, or ${pageSize.max} with --all`,
  },
  cursor: optional('CURSOR', plainText(lengths.cursor), 'continue after the page that returned this cursor'),
  all: flag('list all pages, not only one'),
  json: flag('print one JSON document; without it, output to a pipe or file is JSON Lines'),
  curl: flag('print the request as a curl command, and do not send it'),
  'base-url': address,
  'api-key': orInFile(
    variableOnly(
      keyVariable,
      apiKey,
      'your API key, required without --curl; not a flag, because other users can see flags',
      {
        unless: 'curl',
        missing: 'is not set. Set it to your API key. A sandbox prints a demo key when it starts.',
      },
    ),
  ),
};

/** Checks only the form; the service knows which keys exist. */
export function apiKey(text: string): string | Problem {
  return /^[\u0021-\u007e]+$/.test(text)
    ? text
    : new Problem('must be the API key only, without spaces, line breaks or other characters.');
}
