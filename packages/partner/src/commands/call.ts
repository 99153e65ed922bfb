/** The flags and variables of every command that a partner runs, and what it says if it waits or fails. */
import { ApiError, ConnectionError, PartnerNetworkError, TimeoutError } from '@partner-network/client';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import {
  flag,
  httpUrl,
  type Option,
  optional,
  Problem,
  plainText,
  setting,
  variableOnly,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { OperatorError } from '@partner-network/common/errors';
import { echo } from '@partner-network/common/text';
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
  'api-key': {
    ...variableOnly(
      keyVariable,
      apiKey,
      'your API key, required without --curl; not a flag, because other users can see flags',
      {
        unless: 'curl',
        missing: 'is not set. Set it to your API key. A sandbox prints a demo key when it starts.',
      },
    ),
    hasFile: true,
  },
};

/** Checks only the form; the service knows which keys exist. */
export function apiKey(text: string): string | Problem {
  return /^[\u0021-\u007e]+$/.test(text)
    ? text
    : new Problem('must be the API key only, without spaces, line breaks or other characters.');
}

/** The flag that sets a parameter. */
type FlagOf = (parameter: string) => string | undefined;

/** An error of the client as sentences that name flags and variables; any other error unchanged. */
export function explained(error: unknown, address: Address, flagOf: FlagOf): unknown {
  if (!(error instanceof PartnerNetworkError)) return error;
  return new OperatorError(sentencesOf(error, address, flagOf).join('\n'), { cause: error });
}

function sentencesOf(error: PartnerNetworkError, address: Address, flagOf: FlagOf): string[] {
  if (error instanceof ApiError) return [...refusalOf(error, address, flagOf), ...remedyOf(error, address)];
  if (error instanceof TimeoutError) return tooLate(address);
  if (error instanceof ConnectionError) {
    // Without a cause, an answer arrived that is not JSON.
    if (!(error.cause instanceof Error)) return foreignAnswer('not JSON', address);
    return whyNoAnswer((error.cause as NodeJS.ErrnoException).code ?? error.cause.message, address);
  }
  return [error.message.replaceAll('baseUrl', address.setBy)];
}

/** The errors of an answer, each on one line with its flag, and the id of the request. */
function refusalOf({ status, errors, requestId }: ApiError, address: Address, flagOf: FlagOf): string[] {
  if (errors.length === 0) return foreignAnswer(`status ${status}`, address);
  const request = requestId === undefined ? '' : ` to request ${requestId}`;
  const { shownErrors, shownErrorCharacters } = commandLineBounds;
  const sentences = errors.slice(0, shownErrors).map(({ code, field, detail = 'Refused.' }) => {
    const flag = field === undefined ? undefined : flagOf(field);
    // Parameters such as grant_id are replaced by their flags.
    const withFlags = detail.replaceAll(/\b[a-z]+_[a-z_]+\b/g, (name) => flagOf(name) ?? name);
    // The service's own detail says which header to send, which this command does by itself.
    const what = code === 'UNAUTHORIZED' ? 'The service does not know this key.' : withFlags;
    return echo(`${flag === undefined ? '' : `${flag}: `}${what} (${code})`, shownErrorCharacters);
  });
  return [...sentences, `The service answered ${status}${request}.`];
}

function remedyOf({ status, errors }: ApiError, { url, setBy }: Address): string[] {
  if (status === 404) return [`${setBy} must be the complete base URL, which ends in /network/v1.`];
  if (status !== 401) return [];
  const isUnknown = errors.some(({ code }) => code === 'UNAUTHORIZED');
  const check = `Check that it is complete, and that it belongs to the service at ${url}.`;
  return [`The key comes from ${keyVariable}.${isUnknown ? ` ${check}` : ''}`];
}

export function tooLate({ url, setBy }: Address): string[] {
  const remedy = `Run the command again later, or check the address in ${setBy} and your network.`;
  return [`The service at ${url} did not answer in time.`, remedy];
}

/** The answer of another server: a web page, a redirect, a proxy's error. */
export function foreignAnswer(what: string, { url, setBy }: Address): string[] {
  return [
    `The answer from ${url} (${what}) is not an answer of this service.`,
    `Check the address in ${setBy}, and any proxy between this machine and the service.`,
  ];
}

/** Why no answer arrived, by the code of the system, of TLS or of fetch. */
export function whyNoAnswer(code: string, { url, setBy }: Address): string[] {
  const { host } = new URL(url);
  const start =
    url === sandboxAddress ? 'Start a sandbox with "npx partner-network sandbox"' : 'Start the service';
  const failures: readonly (readonly [codes: RegExp, what: string, remedy: string])[] = [
    [
      /^ECONNREFUSED$/,
      `No service listens at ${host}. Is it running?`,
      `${start}, or set ${setBy} to the address of a running service.`,
    ],
    [
      /^(ENOTFOUND|EAI_AGAIN)$/,
      `The host ${host} cannot be found.`,
      `Check its spelling in ${setBy}, and your network connection.`,
    ],
    [
      /^(EPROTO|ERR_SSL_)/,
      `${host} does not answer with TLS.`,
      `Check the port in ${setBy}, and whether the address must begin with http://.`,
    ],
    [
      /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS_/,
      `The TLS certificate of ${host} is not trusted.`,
      `Check the address in ${setBy}. ` +
        'For a private certificate authority, set NODE_EXTRA_CA_CERTS to the file with its certificate.',
    ],
    [
      /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_)/,
      `${host} closed the connection without a complete answer.`,
      'Run the command again. ' +
        `If it fails again, check whether the address in ${setBy} must begin with https://.`,
    ],
    [
      /^/,
      `${host} cannot be reached.`,
      `Check the address in ${setBy}, your network connection, and firewalls.`,
    ],
  ];
  const [, what, remedy] = failures.find(([codes]) => codes.test(code))!;
  return [`${what} (${code})`, remedy];
}
