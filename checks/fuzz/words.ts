/** Arbitrary texts, their spellings in a URL, and changes of texts. */
import fc from 'fast-check';

/** Any character but a lone surrogate. fast-check's own `binary` unit takes 1 s to build a table. */
export const anyCharacter = fc.oneof(
  { weight: 5, arbitrary: codePoint(0x20, 0x7e) },
  { weight: 1, arbitrary: codePoint(0, 0x1f) },
  { weight: 2, arbitrary: codePoint(0x7f, 0x7ff) },
  { weight: 2, arbitrary: fc.oneof(codePoint(0x800, 0xd7ff), codePoint(0xe000, 0xffff)) },
  { weight: 2, arbitrary: codePoint(0x1_0000, 0x10_ffff) },
);

function codePoint(min: number, max: number): fc.Arbitrary<string> {
  return fc.integer({ min, max }).map((code) => String.fromCodePoint(code));
}

export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, maxLength });
}

/** Writes each character plain, or percent-encoded in upper or lower case. The result is ASCII. */
function percentEncoded(text: string, ways: readonly number[]): string {
  let place = 0;
  return [...text.toWellFormed()]
    .map((character) => {
      const way = ways[place++ % ways.length]!;
      if (way === 0 && /^[A-Za-z0-9_.~*'()!@:,;$/?-]$/.test(character)) return character;
      if (way === 1 && character === ' ') return '+';
      const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
      return way === 2 ? bytes.join('') : bytes.join('').toUpperCase();
    })
    .join('');
}

const spelling = fc.array(fc.nat(3), { minLength: 1, maxLength: 4 });

/** Texts of a request target, including broken escapes and invalid UTF-8. */
export const targetText = fc.oneof(
  fc.tuple(anyText(40), spelling).map((pair) => percentEncoded(...pair)),
  fc
    .string({ unit: 'grapheme-ascii', maxLength: 40 })
    .map((text) => text.replace(/[ \u0000-\u001f\u007f]/g, '%')),
  fc.stringMatching(/^(?:%[0-9a-fA-F]{0,2}|[a-z&=+;#?]){0,20}$/),
  fc.constantFrom('%00', '%ff', '%', '', '0', '-1', '1e2', '%F0%9F%A6%8A', "'%20or%201=1--", '__proto__'),
  fc.constantFrom('%C0%80', '%ED%A0%80', '%F4%90%80%80', '%EF%BB%BF', '%7F', '%C2%85', '%E2%80%AE', '%0d%0a'),
);

/** A change of a text at a random place. `pieces` are inserted, or replace a part of the text. */
export function editWith(pieces: fc.Arbitrary<string>) {
  return fc.record(
    {
      how: fc.constantFrom('replace', 'cut', 'repeat', 'flip', 'append'),
      at: fc.nat(8_192),
      length: fc.oneof(fc.nat(2), fc.nat(40)),
      piece: fc.oneof({ weight: 1, arbitrary: fc.constant('') }, { weight: 4, arbitrary: pieces }),
    },
    { noNullPrototype: true },
  );
}
type Edit = ReturnType<typeof editWith> extends fc.Arbitrary<infer E> ? E : never;

export function edited(text: string, { how, at, length, piece }: Edit): string {
  const place = at % (text.length + 1);
  const before = text.slice(0, place);
  const after = text.slice(place);
  if (how === 'cut') return before;
  if (how === 'append') return text + piece;
  if (how === 'replace') return before + piece + after.slice(length);
  if (how === 'repeat') return before + after.slice(0, length) + after;
  return before + String.fromCharCode((after.charCodeAt(0) || 0) ^ (1 << (length % 8))) + after.slice(1);
}
