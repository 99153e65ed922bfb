import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { inWords, normalizeTime } from '../src/times.ts';

const digits = (count: number) =>
  fc.nat(10 ** count - 1).map((number) => String(number).padStart(count, '0'));

/** Fields that are mostly within their range, sometimes just outside. */
const times = fc
  .tuple(
    fc.oneof(digits(4), fc.constantFrom('0000', '0001', '1900', '2000', '2023', '2024', '9999')),
    fc.integer({ min: 0, max: 13 }),
    fc.integer({ min: 0, max: 32 }),
    fc.integer({ min: 0, max: 25 }),
    fc.constantFrom(0, 59, 60),
    fc.constantFrom(0, 59, 60, 61),
    digits(3),
  )
  .map(([year, ...[month, day, hour, minute, second, millisecond]]) => {
    const two = (number: number) => String(number).padStart(2, '0');
    return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}.${millisecond}Z`;
  });

test('accepts a time exactly if it exists in the calendar', () => {
  fc.assert(
    fc.property(times, (text) => {
      const instant = new Date(text);
      const exists = !Number.isNaN(instant.getTime()) && instant.toISOString() === text;
      assert.equal(normalizeTime(text), exists && !text.startsWith('0000') ? text : undefined);
    }),
    { numRuns: 5_000 },
  );
});

test('writes durations in one whole unit', () => {
  const seconds = [0.1, 4.997, 90, 119.6, 600, 7_000, 7_200, 172_000, 259_200];
  assert.deepEqual(
    seconds.map((count) => inWords(count * 1_000)),
    ['1 s', '5 s', '90 s', '2 min', '10 min', '117 min', '2 h', '2 days', '3 days'],
  );
});
