import { commandLineBounds } from '../bounds/common.ts';
import { toned } from './color.ts';
import { usualColumns } from './table.ts';

const { progressAfterMs, progressMs, progressPipeMs } = commandLineBounds;

/** Standard error. */
type Screen = NodeJS.WritableStream & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>>;

const barCharacters = 24;
const clearLine = '\r\u001b[K';

/**
 * Shows what a command does: a terminal gets one line that is drawn again, a pipe a line every 10 s. What
 * ends within `afterMs` is not shown: 0 is for work that may block the process, and so the timer.
 */
export function createProgress(
  screen: Screen,
  afterMs: number = progressAfterMs,
  totalBytes?: number,
  now = () => performance.now(),
) {
  // A dumb terminal cannot clear a line.
  const isTerminal = screen.isTTY === true && process.env.TERM !== 'dumb';
  const firstMs = isTerminal ? afterMs : progressPipeMs;
  const startedAt = now();
  let dueAt = startedAt + firstMs;
  let takenBytes = 0;
  let lineOf: ((seconds: number, room: number) => string) | undefined;
  let isDrawn = false;

  function draw(): void {
    const at = now();
    if (lineOf === undefined || at < dueAt) return;
    dueAt = at + (isTerminal ? progressMs : progressPipeMs);
    // A terminal of unknown width reports 0. The last cell stays empty: filling it makes some terminals wrap.
    const room = isTerminal ? (screen.columns || usualColumns) - 1 : 0;
    const line = lineOf((at - startedAt) / 1_000, room);
    const colored = (done: string) => toned('good', done, screen);
    screen.write(isTerminal ? clearLine + line.slice(0, room).replace(/#+/, colored) : `${line}\n`);
    isDrawn = isTerminal;
  }

  const timer = setInterval(draw, progressMs).unref();

  function clear(): void {
    if (isDrawn) screen.write(clearLine);
    isDrawn = false;
    lineOf = undefined;
    dueAt = now() + firstMs;
  }

  return {
    /** Adds bytes that were read. */
    bytes: (more: number) => {
      takenBytes += more;
    },
    /** Sets the number of finished records. */
    done: (records: number, work = 'read') => {
      const share = totalBytes === undefined ? undefined : Math.min(takenBytes / totalBytes, 1);
      lineOf = (seconds, room) => countLine(work, records, seconds, share, room);
      draw();
    },
    /** Begins something without a count. */
    step: (what: string) => {
      lineOf = (seconds) => (seconds < 1 ? `${what} …` : `${what} … ${clock(seconds)}`);
      if (isDrawn) dueAt = now();
      draw();
    },
    /** Makes room for other output, and shows nothing until the next step. */
    clear,
    [Symbol.dispose]: () => {
      clear();
      clearInterval(timer);
    },
  };
}

/** Leaves out the bar if the line is too narrow for it. */
function countLine(
  work: string,
  records: number,
  seconds: number,
  share: number | undefined,
  room: number,
): string {
  const count = `${grouped(records)} ${work}  ${grouped(Math.round(records / (seconds || 1)))}/s`;
  if (share === undefined) return count;
  const bar = '#'.repeat(Math.round(share * barCharacters)).padEnd(barCharacters, '.');
  const percent = `${Math.floor(share * 100)}%`;
  const left = share === 0 ? '' : `  ${clock((seconds * (1 - share)) / share)} left`;
  const line = `[${bar}]${percent.padStart(5)}  ${count}${left}`;
  return line.length <= room ? line : `${percent}  ${count}${left}`;
}

export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** Formats seconds as 2:03, or 1:02:03 from one hour on. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const texts = parts.slice(parts[0] === 0 ? 1 : 0).map((part) => String(part).padStart(2, '0'));
  return texts.join(':').replace(/^0/, '');
}
