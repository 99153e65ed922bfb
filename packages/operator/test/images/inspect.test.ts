import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Inspection, inspect } from '../../src/images/inspect.ts';
import { jpg, png } from './pictures.ts';

function summary({ format, width, height, errors }: Inspection): string {
  const size = width === undefined ? undefined : `${width}x${height}`;
  return [format, size, ...errors.map(({ code }) => code)].filter((part) => part !== undefined).join(' ');
}

const hex = (text: string) => Buffer.from(text, 'hex');
const applePng = Buffer.concat([
  hex('89504e470d0a1a0a0000000443674249500020060000002c'),
  png(256, 256).subarray(8),
]);
const frame = jpg(256, 256).subarray(20);

const images: readonly [what: string, bytes: Buffer, expected: string][] = [
  ['a png of the minimum size', png(256, 256), 'png 256x256'],
  ['a large png', png(4096, 4096), 'png 4096x4096'],
  ['a baseline jpg', jpg(256, 256), 'jpg 256x256'],
  ['a progressive jpg', jpg(512, 512, { frame: 0xc2 }), 'jpg 512x512'],
  ['a jpg with an EXIF orientation', jpg(300, 300, { orientation: 6 }), 'jpg 300x300'],
  ['a jpg with a Huffman table first', Buffer.concat([hex('ffd8ffc40004ffff'), frame]), 'jpg 256x256'],
  ['a jpg with fill bytes before a marker', Buffer.concat([hex('ffd8ffffff'), frame]), 'jpg 256x256'],
  ['a jpg with stray bytes between segments', Buffer.concat([hex('ffd8ffe000020102'), frame]), 'jpg 256x256'],
  ['a jpg with markers without length', Buffer.concat([hex('ffd8ff01ffd0ffd7ff00'), frame]), 'jpg 256x256'],
  ['a png one pixel too small', png(255, 255), 'png 255x255 TOO_SMALL'],
  ['a png one pixel too wide', png(257, 256), 'png 257x256 NOT_SQUARE'],
  ['a jpg one pixel too high', jpg(300, 301), 'jpg 300x301 NOT_SQUARE'],
  ['a png that is neither square nor large enough', png(600, 100), 'png 600x100 NOT_SQUARE TOO_SMALL'],
  ['a png without pixels', png(0, 0), 'png UNREADABLE'],
  ['a jpg without height', jpg(256, 0), 'jpg UNREADABLE'],
  ['a png that claims 4294967295 pixels', png(0xffff, 1).fill(0xff, 16, 24), 'png 4294967295x4294967295'],
  ['an empty file', Buffer.alloc(0), 'WRONG_FORMAT'],
  ['an HTML page', Buffer.from('<!doctype html><title>Not found</title>'), 'WRONG_FORMAT'],
  ['an svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="512"/>'), 'WRONG_FORMAT'],
  ['a gif', hex('474946383961000100010000002c'), 'WRONG_FORMAT'],
  ["a png in Apple's own variant", applePng, 'WRONG_FORMAT'],
  ['a png after a stray byte', Buffer.concat([Buffer.from([0]), png(256, 256)]), 'WRONG_FORMAT'],
  ['a jpg without a frame', hex('ffd8ffd9'), 'jpg UNREADABLE'],
  ['a jpg whose pixels come before its frame', Buffer.concat([hex('ffd8ffda0002'), frame]), 'jpg UNREADABLE'],
  ['a jpg whose segment is longer than the file', hex('ffd8ffe0ffff00'), 'jpg UNREADABLE'],
  ['a jpg whose segment has length 0', Buffer.concat([hex('ffd8ffe00000'), frame]), 'jpg UNREADABLE'],
];

for (const [what, bytes, expected] of images) {
  test(`recognizes ${what}`, () => assert.equal(summary(inspect(bytes)), expected));
}

test('reads nothing behind the end of a truncated image', () => {
  for (const [whole, cuts] of [
    [png(256, 256), [16, 17, 20, 23]],
    [jpg(256, 256), [4, 12, 20, 24, 28]],
  ] as const) {
    for (const cut of cuts) {
      // A view into the whole image, as a small Buffer is a view into shared memory.
      assert.match(summary(inspect(whole.subarray(0, cut))), /UNREADABLE/, `${cut} bytes`);
    }
  }
});

test('reads 2 MB of hostile bytes within a second', () => {
  const startedMs = performance.now();
  for (const filling of ['00', '01', 'ff', 'ffe00002', 'ffe000020000']) {
    const bytes = Buffer.alloc(2_000_000, filling, 'hex');
    bytes.set([0xff, 0xd8, 0xff, 0xe0]);
    assert.equal(summary(inspect(bytes)), 'jpg UNREADABLE');
  }
  assert.ok(performance.now() - startedMs < 1_000);
});

test('never throws, whatever follows the first bytes of an image', () => {
  const start = fc.constantFrom(png(256, 256), jpg(256, 256), jpg(1, 1, { orientation: 3 }), Buffer.alloc(0));
  const tail = fc.uint8Array({ maxLength: 64 });
  fc.assert(
    fc.property(start, fc.nat(80), tail, (image, cut, noise) => {
      const { format, width, errors } = inspect(Buffer.concat([image.subarray(0, cut), noise]));
      const codes = errors.map(({ code }) => code).join();
      assert.equal(format === undefined, codes === 'WRONG_FORMAT');
      assert.equal(width === undefined, /WRONG_FORMAT|UNREADABLE/.test(codes));
    }),
    { numRuns: 500 },
  );
});
