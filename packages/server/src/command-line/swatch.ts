/** A brand's color as a block in that color, where the terminal can show it. */
import { textOf } from '../lib/text.ts';

const block = '██';
const hexColor = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i;
const reset = '\u001b[0m';
const bitsOf256Colors = 8;
const bitsOfAllColors = 24;

/** How many bits a color has on this terminal, for whoever uses it: one with NO_COLOR or TERM=dumb. */
export function colorBits(
  screen: { getColorDepth?(variables: object): number },
  variables: Readonly<Record<string, string | undefined>>,
): number {
  // Beside FORCE_COLOR, Node would ignore NO_COLOR.
  const isUnwanted = variables.NO_COLOR !== undefined && variables.NO_COLOR !== '';
  return isUnwanted ? 1 : (screen.getColorDepth?.(variables) ?? 1);
}

/** What stands in the column: a block and the color's digits, or these alone. */
export function swatchCell(color: string | undefined, bits: number): string {
  const text = textOf(color);
  return bits >= bitsOf256Colors && hexColor.test(text) ? `${block} ${text}` : text;
}

export function paintSwatch(shown: string, color: string | undefined, bits: number): string {
  const [, ...digits] = hexColor.exec(textOf(color)) ?? [];
  if (digits.length === 0) return shown;
  const rgb = digits.map((pair) => Number.parseInt(pair, 16));
  const code = bits >= bitsOfAllColors ? `2;${rgb.join(';')}` : `5;${nearestOf256(rgb)}`;
  return shown.replace(block, `\u001b[38;${code}m${block}${reset}`);
}

/** A terminal's 256 colors are, from the 16th on, made of these steps of red, green and blue. */
const steps = [0, 95, 135, 175, 215, 255];

function nearestOf256(rgb: readonly number[]): number {
  const nearest = rgb.map((value) => {
    const distances = steps.map((step) => Math.abs(step - value));
    return distances.indexOf(Math.min(...distances));
  });
  return 16 + nearest.reduce((index, step) => index * steps.length + step, 0);
}
