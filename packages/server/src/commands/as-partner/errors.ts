import { ApiError, ConnectionError, PartnerNetworkError, TimeoutError } from '@partner-network/client';
import { sandboxAddress } from '@partner-network/contract/operations';
import { OperatorError } from '../../lib/operator-error.ts';
import { type Address, keyVariable } from './settings.ts';

/** The flag that sets a parameter. */
type FlagOf = (parameter: string) => string | undefined;

/** An error of the client as sentences that name flags and variables; any other error unchanged. */
export function explained(error: unknown, address: Address, flagOf: FlagOf): unknown {
  if (!(error instanceof PartnerNetworkError)) return error;
  const sentences =
    error instanceof ApiError
      ? [...refusalOf(error, address.setBy, flagOf), ...remedyOf(error, address)]
      : [error.message.replaceAll('baseUrl', address.setBy)];
  const isSilent = error instanceof ConnectionError || error instanceof TimeoutError;
  if (isSilent) sentences.push(remedyOfSilence(address));
  return new OperatorError(sentences.join('\n'), { cause: error });
}

/** All errors of an answer, each with its flag, and the id of the request. */
function refusalOf({ status, errors, requestId }: ApiError, setBy: string, flagOf: FlagOf): string[] {
  if (errors.length === 0) {
    const remedy = `check ${setBy} and what is on the way to it`;
    return [`The answer, of status ${status}, is not one that the service gives: ${remedy}.`];
  }
  const request = requestId === undefined ? '' : ` to request ${requestId}`;
  const sentences = errors.map(({ code, field, detail = 'Refused.' }) => {
    const flag = field === undefined ? undefined : flagOf(field);
    // Parameters such as grant_id are replaced by their flags.
    const withFlags = detail.replaceAll(/\b[a-z]+_[a-z_]+\b/g, (name) => flagOf(name) ?? name);
    // The service's own detail says which header to send, which this command does by itself.
    const what = code === 'UNAUTHORIZED' ? 'The service does not know the key.' : withFlags;
    return `${flag === undefined ? '' : `${flag}: `}${what} (${code})`;
  });
  return [...sentences, `The service answered ${status}${request}.`];
}

function remedyOf({ status, errors }: ApiError, { url, setBy }: Address): string[] {
  if (status === 404) return [`${setBy} must be the whole base address, with /network/v1 at its end.`];
  if (status !== 401) return [];
  const isUnknown = errors.some(({ code }) => code === 'UNAUTHORIZED');
  const check = isUnknown ? `: check that it is whole, and of the service at ${url}` : '';
  return [`The key was taken from ${keyVariable}${check}.`];
}

function remedyOfSilence({ url, setBy }: Address): string {
  if (url !== sandboxAddress) return `Check that this is the service's address: ${setBy} sets it.`;
  const start = 'Start a sandbox there with "npx partner-network sandbox"';
  return `${start}, or set ${setBy} to the service's address.`;
}
