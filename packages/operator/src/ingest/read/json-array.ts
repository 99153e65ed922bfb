const codes = (text: string) => [...text].map((character) => character.charCodeAt(0));
const [quote = 0, backslash = 0, comma = 0, space = 0, newline = 0] = codes('"\\, \n');
const [openings, closings, blanks] = [codes('[{'), codes(']}'), codes(' \t\r\n')];
/** No string of JSON may contain it. */
const control = 1;
/** The bytes of a byte order mark, which readers of lines skip. */
const mark = [0xef, 0xbb, 0xbf];

/**
 * Turns a JSON list into lines, one for each item, in place: a copy of 16 MiB as text takes 32 MB. Whether an
 * item is JSON is found out when its line is read. Returns false if the bytes are not a list.
 */
export function makeLines(pieces: readonly Uint8Array[]): boolean {
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
        isOver = depth === 0;
        if (isOver) piece[at] = isEmpty && items > 0 ? comma : space;
        isEmpty = false;
      }
    }
  }
  return isOver;
}
