import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayWidth, shorten } from '../../src/command-line/width.ts';

test('measures the width of a text in terminal cells', () => {
  for (const [text, cells] of [
    ['', 0],
    ['plain', 5],
    ['café', 4],
    ['cafe\u0301', 4],
    ['日本語', 6],
    ['ｆｕｌｌ', 8],
    ['한글', 4],
    ['\u1112\u1161\u11ab', 2],
    ['🦊', 2],
    ['👨‍👩‍👧', 2],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['1️⃣', 2],
    ['עברית', 5],
    ['zero\u200bwidth', 9],
    ['…█', 2],
  ] as const) {
    assert.equal(displayWidth(text), cells, text);
  }
});

test('shortens a text to a width, and cuts through no character', () => {
  for (const [text, cells, shown] of [
    ['exactly', 7, 'exactly'],
    ['a bit too long', 7, 'a bit …'],
    ['日本語のお店', 7, '日本語…'],
    ['日本語のお店', 6, '日本…'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, '👨‍👩‍👧…'],
    ['cafe\u0301s', 4, 'caf…'],
    ['any', 1, '…'],
  ] as const) {
    assert.equal(shorten(text, cells), shown);
    assert.ok(displayWidth(shown) <= cells);
  }
});
