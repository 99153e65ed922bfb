/** Makes a picture of a page small: a PNG with a palette of 256 colors, which is a third of the original. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');

export function withPalette(png: Buffer): Buffer {
  const { width, height, colors } = pixelsOf(png);
  const palette = paletteOf(colors);
  const indexes = new Map(palette.map((color, index) => [color, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [at, color] of colors.entries()) {
    const index = indexes.get(color) ?? nearest(palette, color);
    indexes.set(color, index);
    // Each row begins with a byte that names its filter: none.
    rows[at + Math.floor(at / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const channelsOf = (color: number) => [color >> 16, (color >> 8) & 255, color & 255];

/** The most frequent colors. Others are shades at the edges of letters. */
function paletteOf(colors: Uint32Array): number[] {
  const counts = new Map<number, number>();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const ranked = [...counts].toSorted(([, one], [, other]) => other - one);
  return ranked.slice(0, 256).map(([color]) => color);
}

function nearest(palette: readonly number[], color: number): number {
  const wanted = channelsOf(color);
  const distances = palette.map((other) =>
    channelsOf(other).reduce((sum, channel, at) => sum + (channel - wanted[at]!) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

/** The colors of a PNG as Chromium writes it: 8 bits for each channel, not interlaced. */
function pixelsOf(png: Buffer) {
  const parts = chunksOf(png);
  const header = parts.find(({ name }) => name === 'IHDR')!.data;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const size = header[9] === 6 ? 4 : 3;
  const data = inflateSync(Buffer.concat(parts.flatMap(({ name, data }) => (name === 'IDAT' ? [data] : []))));
  const rowSize = width * size;
  const bytes = new Uint8Array(rowSize * height);
  for (let at = 0; at < bytes.length; at += 1) {
    const row = Math.floor(at / rowSize);
    const isFirst = at % rowSize < size;
    const left = isFirst ? 0 : bytes[at - size]!;
    const above = row === 0 ? 0 : bytes[at - rowSize]!;
    const corner = isFirst || row === 0 ? 0 : bytes[at - rowSize - size]!;
    const filter = data[row * (rowSize + 1)]!;
    const guess = [0, left, above, (left + above) >> 1, filter === 4 ? paeth(left, above, corner) : 0][
      filter
    ]!;
    bytes[at] = data[at + row + 1]! + guess;
  }
  const colors = Uint32Array.from({ length: width * height }, (_, pixel) => {
    const [red, green, blue] = bytes.subarray(pixel * size);
    return (red! << 16) | (green! << 8) | blue!;
  });
  return { width, height, colors };
}

/** The filter that predicts a byte from three neighbors, as the PNG specification defines it. */
function paeth(left: number, above: number, corner: number): number {
  const [toLeft, toAbove] = [Math.abs(above - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

function chunksOf(png: Buffer) {
  const found: { readonly name: string; readonly data: Buffer }[] = [];
  let at = signature.length;
  while (at < png.length) {
    const length = png.readUInt32BE(at);
    const name = png.toString('latin1', at + 4, at + 8);
    found.push({ name, data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const framed = Buffer.alloc(8 + named.length);
  framed.writeUInt32BE(data.length);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), 4 + named.length);
  return framed;
}
