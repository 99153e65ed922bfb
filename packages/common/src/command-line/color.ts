import { styleText } from 'node:util';

const styles = { good: 'green', warning: 'yellow', error: 'red' } as const;

/** What a color means. The text beside it must mean the same without color. */
export type Tone = keyof typeof styles;

/** Colors a text if the stream is a terminal, or if FORCE_COLOR is set; never with NO_COLOR. */
export function toned(
  tone: Tone | undefined,
  text: string,
  stream: NodeJS.WritableStream = process.stdout,
): string {
  return tone === undefined ? text : styleText(styles[tone], text, { stream });
}

const good = /^(active|enabled|granted|ok|passed|sealing)$/i;
const neutral = /^(waiting|opening|consumed|skipped|expected|-)$/i;

/** The tone of a state or code in a list: anything unknown is a code of a refusal. */
export function toneOf(state: string): Tone | undefined {
  if (good.test(state)) return 'good';
  return neutral.test(state) ? undefined : /^(expired|warning)$/i.test(state) ? 'warning' : 'error';
}
