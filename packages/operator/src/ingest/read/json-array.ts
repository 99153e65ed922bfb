import type { Reading } from '../record-check.ts';
import { readJsonLines } from './json-lines.ts';

const codes = (text: string) => [...text].map((character) => character.charCodeAt(0));
const [quote = 0, backslash = 0, comma = 0, space = 0, newline = 0] = codes('"\\, \n');
const [openings, closings, blanks] = [codes('[{'), codes(']}'), codes(' \t\r\n')];
/** No string of JSON may contain it. */
const control = 1;
/** The bytes of a byte order mark, which readers of lines skip. */
const mark = [0xef, 0xbb, 0xbf];

/**
 * Reads a JSON list as lines, one for each item. Throws the error of `broken` for anything else, also while
 * it is read: an item that is not JSON spoils the list. Only an item that is too long is rejected alone.
 */
export function readJsonList(
  pieces: readonly Uint8Array[],
  broken: (item?: number) => unknown,
): () => AsyncGenerator<readonly Reading[]> {
  if (!makeLines(pieces)) throw broken();
  return async function* () {
    for await (const readings of readJsonLines(piecesOf(pieces))) {
      const wrong = readings.find(isNotJson);
      if (wrong !== undefined) throw broken(wrong.line);
      yield readings;
    }
  };
}

/** A line that is too long has no text. */
function isNotJson(reading: Reading): boolean {
  return 'rejections' in reading && reading.rejections[0]?.code === 'INVALID_JSON' && reading.text !== '';
}

export async function* piecesOf(body: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* body;
}

/**
 * Turns a JSON list into lines, one for each item, in place: a copy of 16 MiB as text takes 32 MB. Whether an
 * item is JSON is found out when its line is read. Returns false if the bytes are not a list.
 */
function makeLines(pieces: readonly Uint8Array[]): boolean {
  let [depth, items] = [0, 0];
  let [isInString, isEscaped, isOver, isEmpty] = [false, false, false, true];
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]!;
      if (isInString) {
        if (byte === newline) piece[at] = control;
        isInString = isEscaped || byte !== quote;
        isEscaped = byte === backslash && !isEscaped;
      } else if (blanks.includes(byte)) {
        piece[at] = space;
      } else if (depth === 0) {
        if (!isOver && mark.includes(byte)) continue;
        if (isOver || byte !== openings[0]) return false;
        depth = 1;
        piece[at] = space;
      } else if (byte === comma && depth === 1) {
        // An item without a text keeps the comma: a blank line would be skipped.
        if (!isEmpty) piece[at] = newline;
        items += 1;
        isEmpty = true;
      } else {
        if (byte === quote) isInString = true;
        else if (openings.includes(byte)) depth += 1;
        else if (closings.includes(byte)) depth -= 1;
        if (depth === 0 && byte !== closings[0]) return false;
        isOver = depth === 0;
        if (isOver) piece[at] = isEmpty && items > 0 ? comma : space;
        isEmpty = false;
      }
    }
  }
  return isOver;
}
