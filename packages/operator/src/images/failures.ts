/** The failures of a brand's image: codes and their sentences. */

import { imagesBounds } from '@partner-network/common/bounds/operator';
import { echo } from '@partner-network/common/text';
import { echoedCharacters, profileImage } from '@partner-network/contract/limits';
import { fillIn } from '@partner-network/contract/sentence';

const { minPixels, belowBytes } = profileImage;

const sentences = {
  NOT_SQUARE: 'Crop the image to a square: it is {width} pixels wide and {height} pixels high.',
  TOO_SMALL: `Use a larger image: it must have at least ${minPixels}x${minPixels} pixels.`,
  TOO_LARGE: `Compress the image: it must be smaller than ${belowBytes} bytes.`,
  WRONG_FORMAT: 'Save the image as png or jpg: its content has neither format.',
  UNREADABLE: 'Save the image again: it begins as {format}, but its width and height cannot be read.',
  INVALID_URL: 'Set profile_image_url to an http or https URL without user or password.',
  UNREACHABLE: 'Check that {host} serves the image: {reason}.',
  TIMED_OUT: `Serve the image faster: it must arrive within ${imagesBounds.downloadMs / 1_000} s, redirects included.`,
  BAD_STATUS: 'Correct the URL or fix {host}: it answers with status {status} instead of 200.',
  ENCODED: 'Serve the image without content encoding: {host} encodes it, for example with gzip.',
  TOO_MANY_REDIRECTS: `Use the URL where the redirects end: at most ${imagesBounds.redirects} redirects are followed.`,
  BAD_REDIRECT:
    'Correct the redirect of {host}: it must lead to an http or https URL, without user or password, ' +
    'and not from https to http.',
  NOT_PUBLIC:
    'Serve the image from a public address: {host} is not public. To allow it, pass --allow-private.',
} as const;

type ImageCode = keyof typeof sentences;

export interface ImageFailure {
  readonly code: ImageCode;
  readonly detail: string;
}

export function imageFailure(code: ImageCode, facts: Parameters<typeof fillIn>[1] = {}): ImageFailure {
  return { code, detail: fillIn(sentences[code], facts) };
}

/** The only part of a URL that is shown: the rest may contain a token. */
export function shownHost({ hostname }: URL): string {
  return echo(hostname, echoedCharacters);
}
