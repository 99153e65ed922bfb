/** Makes the smallest valid images, so that the tests need no files. */
import { crc32, deflateSync } from 'node:zlib';

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const framed = Buffer.alloc(8 + named.length);
  framed.writeUInt32BE(data.length);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), 4 + named.length);
  return framed;
}

/** A complete black png, padded to `bytes`. */
export function png(width: number, height: number, bytes = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc((1 + Math.ceil(width / 8)) * height));
  const parts = [
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ];
  const missing = bytes - parts.reduce((sum, { length }) => sum + length, 0);
  if (missing >= 12) parts.splice(2, 0, chunk('teXt', Buffer.alloc(missing - 12)));
  return Buffer.concat(parts);
}

function segment(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
}

interface JpegChoices {
  /** The marker of its frame: 0xc0 is baseline, 0xc2 progressive. */
  readonly frame?: number;
  /** The EXIF orientation of a rotated camera. */
  readonly orientation?: number;
}

/** A jpg up to its frame header, which contains the size. */
export function jpg(width: number, height: number, { frame = 0xc0, orientation }: JpegChoices = {}): Buffer {
  const size = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  size.writeUInt16BE(height, 1);
  size.writeUInt16BE(width, 3);
  return Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    ...(orientation === undefined ? [] : [segment(0xe1, exif(orientation))]),
    segment(frame, size),
    Buffer.from('ffd9', 'hex'),
  ]);
}

function exif(orientation: number): Buffer {
  const entries = Buffer.from('0001011200030000000100000000', 'hex');
  entries.writeUInt16BE(orientation, 10);
  return Buffer.concat([Buffer.from('Exif\0\0MM\0*\0\0\0\x08', 'latin1'), entries, Buffer.alloc(4)]);
}
