/** The width of a text in terminal cells: 2 for a Chinese character or an emoji, 0 for an accent. */

const plain = /^[\u0020-\u007e]*$/;
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });
const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\u20e3/u;
/** Marks, joiners, and the vowels and final consonants of a Hangul syllable. */
const withoutWidth = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** The wide and fullwidth blocks of Unicode's East Asian Width. */
const wide = new RegExp(
  '[\\u1100-\\u115f\\u2329\\u232a\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3' +
    '\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6' +
    '\\u{16fe0}-\\u{18cff}\\u{1b000}-\\u{1b2ff}\\u{20000}-\\u{3fffd}]',
  'u',
);

export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of clusters.segment(text)) cells += widthOfCluster(segment);
  return cells;
}

function widthOfCluster(cluster: string): number {
  if (emoji.test(cluster)) return 2;
  let cells = 0;
  for (const character of cluster) cells += withoutWidth.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return cells;
}

/** Cuts a text to a width, never within a character that is made of several code points. */
export function shorten(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  let shown = '';
  let left = cells - 1;
  for (const { segment } of clusters.segment(text)) {
    left -= displayWidth(segment);
    if (left < 0) break;
    shown += segment;
  }
  return `${shown}…`;
}
