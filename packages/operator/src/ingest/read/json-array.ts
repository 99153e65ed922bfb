import type { Reading } from '../record-check.ts';
import { rejection } from '../rejections.ts';
import { readJson } from './json.ts';

const [quote, backslash, comma] = [...'"\\,'].map((character) => character.charCodeAt(0));
const [openings, closings] = ['[{', ']}'].map((text) =>
  [...text].map((character) => character.charCodeAt(0)),
);

/**
 * Splits the text of a JSON list into the texts of its items. Undefined if the text is not a list. An item is
 * any text between commas: whether it is JSON is found out when it is read.
 */
function itemsOf(text: string): string[] | undefined {
  const inner = /^\s*\[(.*)\]\s*$/s.exec(text)?.[1];
  if (inner === undefined) return undefined;
  if (inner.trim() === '') return [];
  const items: string[] = [];
  let [start, depth, isInString] = [0, 0, false];
  for (let index = 0; index < inner.length; index += 1) {
    const code = inner.charCodeAt(index);
    if (isInString) {
      if (code === backslash) index += 1;
      else if (code === quote) isInString = false;
    } else if (code === quote) isInString = true;
    else if (openings!.includes(code)) depth += 1;
    else if (closings!.includes(code)) depth -= 1;
    else if (code === comma && depth === 0) {
      items.push(inner.slice(start, index));
      start = index + 1;
    }
  }
  return [...items, inner.slice(start)];
}

/** Reads a list of records. An item is counted as a line. Undefined if the text is not a list. */
export function readJsonArray(text: string): Reading[] | undefined {
  return itemsOf(text)?.map((item, index) => {
    const reading = readJson(item);
    const line = index + 1;
    return 'code' in reading
      ? { line, text: item, rejections: [rejection(reading.code, reading.path)] }
      : { line, text: item, value: reading.value };
  });
}
