import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Inspection, inspect } from '../../src/images/inspect.ts';
import { jpg, png } from './pictures.ts';

function told({ format, width, height, errors }: Inspection): string {
  const size = width === undefined ? undefined : `${width}x${height}`;
  return [format, size, ...errors.map(({ code }) => code)].filter((part) => part !== undefined).join(' ');
}

const gif = Buffer.from('474946383961000100010000002c', 'hex');
const webp = Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\xff\xff\xff\xff', 'latin1');
const jxlThatNeverEnds = Buffer.from('0000000c4a584c200d0a870a000000006a786c70', 'hex');
const icnsThatNeverEnds = Buffer.from('69636e73000000106973333200000000', 'hex');
const applePng = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000443674249500020060000002c', 'hex'),
  png(256, 256).subarray(8),
]);

const images: readonly [what: string, bytes: Buffer, expected: string][] = [
  ['a png of the least size', png(256, 256), 'png 256x256'],
  ['a large png', png(4096, 4096), 'png 4096x4096'],
  ['a baseline jpg', jpg(256, 256), 'jpg 256x256'],
  ['a progressive jpg', jpg(512, 512, { frame: 0xc2 }), 'jpg 512x512'],
  ['a jpg that is turned on its side', jpg(300, 300, { orientation: 6 }), 'jpg 300x300'],
  ['a png one pixel too small', png(255, 255), 'png 255x255 TOO_SMALL'],
  ['a png one pixel too wide', png(257, 256), 'png 257x256 NOT_SQUARE'],
  ['a jpg one pixel too high', jpg(300, 301), 'jpg 300x301 NOT_SQUARE'],
  ['a png that is neither square nor large enough', png(600, 100), 'png 600x100 NOT_SQUARE TOO_SMALL'],
  ['a png without pixels', png(0, 0), 'png UNREADABLE'],
  ['a png that claims 4294967295 pixels', png(0xffff, 1).fill(0xff, 16, 24), 'png 4294967295x4294967295'],
  ['nothing', Buffer.alloc(0), 'WRONG_FORMAT'],
  ['a page', Buffer.from('<!doctype html><title>Not found</title>'), 'WRONG_FORMAT'],
  [
    'a drawing',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512"/>'),
    'WRONG_FORMAT',
  ],
  ['a gif', gif, 'WRONG_FORMAT'],
  ['a webp', webp, 'WRONG_FORMAT'],
  ['a jxl that has no end', jxlThatNeverEnds, 'WRONG_FORMAT'],
  ['an icns that has no end', icnsThatNeverEnds, 'WRONG_FORMAT'],
  ["a png for Apple's devices alone", applePng, 'WRONG_FORMAT'],
  ['a png behind a byte too many', Buffer.concat([Buffer.from([0]), png(256, 256)]), 'WRONG_FORMAT'],
  ['a jpg without a frame', Buffer.from('ffd8ffd9', 'hex'), 'jpg UNREADABLE'],
  ['a jpg whose segment is longer than the file', Buffer.from('ffd8ffe0ffff00', 'hex'), 'jpg UNREADABLE'],
  ['a jpg whose segment has no length', Buffer.from('ffd8ffe00000ffc0', 'hex'), 'jpg UNREADABLE'],
];

for (const [what, bytes, expected] of images) {
  test(`sees ${what} for what it is`, async () => {
    assert.equal(told(await inspect(bytes)), expected);
  });
}

test('says in a sentence how wide and how high an image is that is not square', async () => {
  const { errors } = await inspect(png(300, 256));
  assert.deepEqual(errors, [
    { code: 'NOT_SQUARE', detail: 'Crop it to a square: it is 300 pixels wide and 256 high.' },
  ]);
});

test('reads nothing of what stands in memory behind an image that was cut off', async () => {
  for (const [whole, cuts] of [
    [png(256, 256), [16, 17, 20, 23]],
    [jpg(256, 256), [4, 12, 20, 24, 28]],
  ] as const) {
    for (const cut of cuts) {
      // A view into the whole image, as a small Buffer is one into memory that many share.
      assert.match(told(await inspect(whole.subarray(0, cut))), /UNREADABLE/, `${cut} bytes`);
    }
  }
});

test('comes to an end with 2 MB of anything that begins as an image', { timeout: 30_000 }, async () => {
  for (const filling of [0x00, 0x01, 0xff]) {
    const bytes = Buffer.alloc(2_000_000, filling);
    bytes.set([0xff, 0xd8, 0xff, 0xe0]);
    assert.equal(told(await inspect(bytes)), 'jpg UNREADABLE');
  }
});

test('throws on nothing, whatever follows the first bytes of an image', async () => {
  const start = fc.constantFrom(png(256, 256), jpg(256, 256), jpg(1, 1, { orientation: 3 }), Buffer.alloc(0));
  const tail = fc.uint8Array({ maxLength: 64 });
  await fc.assert(
    fc.asyncProperty(start, fc.nat(80), tail, async (image, cut, noise) => {
      const { format, width, errors } = await inspect(Buffer.concat([image.subarray(0, cut), noise]));
      assert.equal(
        format === undefined,
        errors.some(({ code }) => code === 'WRONG_FORMAT'),
      );
      assert.equal(
        width === undefined,
        errors.some(({ code }) => /WRONG_FORMAT|UNREADABLE/.test(code)),
      );
    }),
    { numRuns: 500 },
  );
});
