import { ingestBounds } from '@partner-network/common/bounds/ingest';
import type { Reading } from '../record-check.ts';
import { rejection } from '../rejections.ts';
import { readJson } from './json.ts';

const [quote, backslash, comma] = [...'"\\,'].map((character) => character.charCodeAt(0));
const [openings, closings] = ['[{', ']}'].map((text) =>
  [...text].map((character) => character.charCodeAt(0)),
);

/** What is between the brackets of a JSON list. Undefined if the text is not a list. */
export function insideOfArray(text: string): string | undefined {
  return /^\s*\[(.*)\]\s*$/s.exec(text)?.[1];
}

/**
 * Yields the texts between the commas of a list, one by one: a list may have millions. Whether a text is JSON
 * is found out when it is read.
 */
function* itemsOf(inside: string): Generator<string> {
  if (inside.trim() === '') return;
  let [start, depth, isInString] = [0, 0, false];
  for (let index = 0; index < inside.length; index += 1) {
    const code = inside.charCodeAt(index);
    if (isInString) {
      if (code === backslash) index += 1;
      else if (code === quote) isInString = false;
    } else if (code === quote) isInString = true;
    else if (openings!.includes(code)) depth += 1;
    else if (closings!.includes(code)) depth -= 1;
    else if (code === comma && depth === 0) {
      yield inside.slice(start, index);
      start = index + 1;
    }
  }
  yield inside.slice(start);
}

/** Reads the records of a list, a few at a time. An item is counted as a line. */
export async function* readJsonArray(inside: string): AsyncGenerator<readonly Reading[]> {
  let readings: Reading[] = [];
  let line = 0;
  for (const text of itemsOf(inside)) {
    line += 1;
    const reading = readJson(text);
    readings.push(
      'code' in reading
        ? { line, text, rejections: [rejection(reading.code, reading.path)] }
        : { line, text, value: reading.value },
    );
    if (readings.length < ingestBounds.importBatchRecords) continue;
    yield readings;
    readings = [];
  }
  yield readings;
}
