import { profileImage } from '@partner-network/contract/limits';
import { imagesBounds } from '../bounds/images.ts';
import { type ImageFault, imageFault } from './faults.ts';

export interface Inspection {
  readonly format?: 'png' | 'jpg';
  readonly width?: number;
  readonly height?: number;
  readonly errors: readonly ImageFault[];
}

/** How a file of each format begins; a png with its first chunk, which must be the header. */
const beginnings = [
  ['png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
  ['jpg', Buffer.from('ffd8ff', 'hex')],
] as const;

/** All that is wrong with an image as far as its header tells. Its pixels are not decoded. */
export async function inspect(bytes: Buffer): Promise<Inspection> {
  const format = beginnings.find(([, start]) => bytes.subarray(0, start.length).equals(start))?.[0];
  if (format === undefined) return { errors: [imageFault('WRONG_FORMAT')] };
  const size = await sizeOf(bytes);
  if (size === undefined) return { format, errors: [imageFault('UNREADABLE', { format })] };
  const { width, height } = size;
  const errors: ImageFault[] = [];
  if (width !== height) errors.push(imageFault('NOT_SQUARE', { width, height }));
  if (Math.min(width, height) < profileImage.minPixels) errors.push(imageFault('TOO_SMALL'));
  return { format, width, height, errors };
}

/**
 * The library gets only what begins as png or jpg: files that it did not come to an end with were in others
 * of its formats (CVE-2025-71319, CVE-2025-71329). It gets a Buffer, for it slices as it goes, and to slice
 * a Uint8Array copies. It gets no more than a header can well be: what is none it steps through, two bytes at
 * a time, and nothing else is done meanwhile, for 2 MB 0.3 s. And it gets memory that holds nothing else, for
 * it would read on behind the end of a file that is cut off.
 */
async function sizeOf(bytes: Buffer): Promise<{ width: number; height: number } | undefined> {
  const { imageSize } = await import('image-size');
  const alone = Buffer.from(new Uint8Array(bytes.subarray(0, imagesBounds.imageHeaderBytes)).buffer);
  try {
    const { width, height } = imageSize(alone);
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    // It throws whatever it stumbles over.
    return undefined;
  }
}
