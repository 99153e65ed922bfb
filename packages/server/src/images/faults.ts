/** The faults of a brand's image: codes and their sentences. */
import { echoedCharacters, profileImage } from '@partner-network/contract/limits';
import { fillIn } from '@partner-network/contract/sentence';
import { imagesBounds } from '../bounds/images.ts';
import { echo } from '../lib/text.ts';

const { minPixels, belowBytes } = profileImage;

const sentences = {
  NOT_SQUARE: 'Crop it to a square: it is {width} pixels wide and {height} high.',
  TOO_SMALL: `Use a larger one: it must have at least ${minPixels}x${minPixels} pixels.`,
  TOO_LARGE: `Compress it: it must be under ${belowBytes} bytes.`,
  WRONG_FORMAT: 'Save it as png or jpg: what the server sends is neither, whatever its name says.',
  UNREADABLE: 'Save it anew: it begins as {format}, but how large it is cannot be read.',
  INVALID_URL: 'Give the brand an http or https URL without user or password.',
  UNREACHABLE: 'Check that {host} serves it: {reason}.',
  TIMED_OUT: `Serve it faster: it must be there within ${imagesBounds.imageDownloadMs / 1_000} s, redirects included.`,
  BAD_STATUS: 'Correct the URL or mend {host}: it answers with status {status} and not with 200.',
  ENCODED: 'Serve it as it is: {host} sends it in a content encoding, such as gzip, that was not asked for.',
  TOO_MANY_REDIRECTS: `Use the URL that it ends at: at most ${imagesBounds.imageRedirects} redirects are followed.`,
  BAD_REDIRECT:
    'Mend the redirect of {host}: it must lead to an http or https URL, without user or password, ' +
    'and not from https to http.',
  NOT_PUBLIC: 'Serve it from a public address, as {host} is not, or pass --allow-private if this is meant.',
} as const;

type ImageCode = keyof typeof sentences;

export interface ImageFault {
  readonly code: ImageCode;
  readonly detail: string;
}

export function imageFault(code: ImageCode, facts: Parameters<typeof fillIn>[1] = {}): ImageFault {
  return { code, detail: fillIn(sentences[code], facts) };
}

/** The only part of a URL that is shown: the rest may contain a token. */
export function shownHost({ hostname }: URL): string {
  return echo(hostname, echoedCharacters);
}
