/** What went wrong with a call, told to whoever made it at a command line. */
import { ApiError, ConnectionError, PartnerNetworkError, TimeoutError } from '@partner-network/client';
import { OperatorError } from '../operator-error.ts';
import { addressVariable, keyVariable, sandboxAddress } from './partner-settings.ts';

/** The flag that sets a parameter. */
type FlagOf = (parameter: string) => string | undefined;

/** What a person can mend, as sentences; anything else as it is. */
export function explained(error: unknown, address: string, flagOf: FlagOf): unknown {
  if (!(error instanceof PartnerNetworkError)) return error;
  return new OperatorError(sentencesOf(error, address, flagOf).join('\n'), { cause: error });
}

function sentencesOf(error: PartnerNetworkError, address: string, flagOf: FlagOf): string[] {
  if (error instanceof ApiError) return [...refusalOf(error, flagOf), ...remedyOf(error)];
  const said = error.message.replaceAll('baseUrl', addressVariable);
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return [said, remedyOfSilence(address)];
  }
  return [said];
}

/** All of the errors, each with the flag that it is about, and the id of the request. */
function refusalOf({ status, errors, requestId }: ApiError, flagOf: FlagOf): string[] {
  if (errors.length === 0) {
    const remedy = `check ${addressVariable} and what is on the way to it`;
    return [`The answer, of status ${status}, is not one that the service gives: ${remedy}.`];
  }
  const request = requestId === undefined ? '' : ` to request ${requestId}`;
  return [
    ...errors.map(({ code, field, detail }) => {
      const flag = field === undefined ? undefined : flagOf(field);
      return `${flag === undefined ? '' : `${flag}: `}${withFlags(detail ?? 'Refused.', flagOf)} (${code})`;
    }),
    `The service answered ${status}${request}.`,
  ];
}

/** Parameters that are more than a word, such as grant_id, by their flags. */
function withFlags(detail: string, flagOf: FlagOf): string {
  return detail.replaceAll(/\b[a-z]+_[a-z_]+\b/g, (name) => flagOf(name) ?? name);
}

function remedyOf({ status }: ApiError): string[] {
  if (status === 401) return [`The key was taken from ${keyVariable}.`];
  if (status === 404)
    return [`${addressVariable} must be the whole base address, with /network/v1 at its end.`];
  return [];
}

function remedyOfSilence(address: string): string {
  if (address !== sandboxAddress) {
    return `Check that this is the service's address: ${addressVariable} or --base-url sets it.`;
  }
  const start = 'Start a sandbox there with "npx partner-network sandbox"';
  return `${start}, or set ${addressVariable} to the service's address.`;
}
