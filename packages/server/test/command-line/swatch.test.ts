import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WriteStream } from 'node:tty';
import { colorBits, paintSwatch, swatchCell } from '../../src/command-line/swatch.ts';

/** What Node makes of a terminal with these variables. */
const bitsWith = (variables: Record<string, string | undefined>) =>
  colorBits(WriteStream.prototype, variables);

function swatch(color: string | undefined, bits: number): string {
  return paintSwatch(swatchCell(color, bits), color, bits);
}

test('shows a color as a block in all colors, in 256 of them, or by its digits alone', () => {
  const start = '\u001b[38;';
  assert.equal(swatch('#Ab12eF', 24), `${start}2;171;18;239m██\u001b[0m #Ab12eF`);
  assert.equal(swatch('#Ab12eF', 8), `${start}5;129m██\u001b[0m #Ab12eF`);
  assert.equal(swatch('#000000', 8), `${start}5;16m██\u001b[0m #000000`);
  assert.equal(swatch('#ffffff', 8), `${start}5;231m██\u001b[0m #ffffff`);
  for (const bits of [1, 4]) assert.equal(swatch('#Ab12eF', bits), '#Ab12eF');
});

test('shows nothing where there is no color, and paints nothing by what is none', () => {
  assert.equal(swatch(undefined, 24), '');
  assert.equal(swatch('2;1m', 24), '2;1m');
});

test('uses the colors that the terminal has, and none when they are not wanted', () => {
  const full = { TERM: 'xterm-256color', COLORTERM: 'truecolor' };
  assert.equal(bitsWith(full), 24);
  assert.equal(bitsWith({ TERM: 'xterm-256color' }), 8);
  assert.equal(bitsWith({ ...full, NO_COLOR: '' }), 24);
  for (const unwanted of [{ NO_COLOR: '1' }, { NO_COLOR: '1', FORCE_COLOR: '3' }, { TERM: 'dumb' }]) {
    assert.equal(bitsWith({ ...full, ...unwanted }), 1, JSON.stringify(unwanted));
  }
  assert.equal(colorBits({}, full), 1);
});
