import { imagesBounds } from '@partner-network/common/bounds/operator';
import { echo } from '@partner-network/common/text';
import { echoedCharacters, profileImage } from '@partner-network/contract/limits';
import { fillIn } from '@partner-network/contract/sentence';

export interface Inspection {
  readonly format?: 'png' | 'jpg';
  readonly width?: number;
  readonly height?: number;
  readonly errors: readonly ImageFailure[];
}

/** Reads the format and size of an image from its header and lists every failure. Pixels are not decoded. */
export function inspect(bytes: Buffer): Inspection {
  const format = formats.find(({ start }) => bytes.subarray(0, start.length).equals(start));
  if (format === undefined) return { errors: [imageFailure('WRONG_FORMAT')] };
  const { name } = format;
  const { width, height } = format.sizeOf(bytes) ?? { width: 0, height: 0 };
  if (width === 0 || height === 0) {
    return { format: name, errors: [imageFailure('UNREADABLE', { format: name })] };
  }
  const errors: ImageFailure[] = [];
  if (width !== height) errors.push(imageFailure('NOT_SQUARE', { width, height }));
  if (Math.min(width, height) < profileImage.minPixels) errors.push(imageFailure('TOO_SMALL'));
  return { format: name, width, height, errors };
}

/** The first bytes of a file of each format. A png starts with its signature and the IHDR chunk. */
const formats = [
  { name: 'png', start: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), sizeOf: sizeOfPng },
  { name: 'jpg', start: Buffer.from('ffd8ff', 'hex'), sizeOf: sizeOfJpg },
] as const;

function sizeOfPng(bytes: Buffer) {
  return bytes.length < 24 ? undefined : { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/**
 * Walks the segments of a jpg to its frame header (SOF), which holds the size. Bytes between segments are
 * skipped, as libjpeg does. The walk only moves forward, so 2 MB of hostile bytes take less than 100 ms.
 */
function sizeOfJpg(bytes: Buffer) {
  let position = 2;
  for (;;) {
    position = bytes.indexOf(0xff, position);
    if (position === -1) return undefined;
    // A marker may be preceded by any number of 0xff fill bytes.
    while (bytes[position] === 0xff) position += 1;
    // Behind the marker: length (2 bytes), and in a frame header precision (1), height (2), width (2).
    if (position + 3 > bytes.length) return undefined;
    const marker = bytes[position]!;
    // TEM, RST0 to RST7 and SOI have no length, and 0xff00 is not a marker.
    if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    const length = bytes.readUInt16BE(position + 1);
    if (isFrame(marker)) {
      if (position + 8 > bytes.length) return undefined;
      return { height: bytes.readUInt16BE(position + 4), width: bytes.readUInt16BE(position + 6) };
    }
    // Pixels (SOS) and the end of the image (EOI) come after the frame header. A length includes itself.
    if (marker === 0xda || marker === 0xd9 || length < 2) return undefined;
    position += 1 + length;
  }
}

/** SOF0 to SOF15. Three markers of that range are something else: DHT, JPG and DAC. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

const { minPixels, belowBytes } = profileImage;

/** The failures of a brand's image. */
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
