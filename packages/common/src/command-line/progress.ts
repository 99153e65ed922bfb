import { commandLineBounds } from '../bounds/common.ts';
import { usualColumns } from './table.ts';

/** Standard error. Progress is shown only if it is a terminal. */
interface Screen {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const barCharacters = 24;
const clearLine = '\r\u001b[K';
const lineUp = '\u001b[1A';

/** A progress line: a bar and the time left if the total is known, otherwise only the number and the rate. */
export function createProgress(
  screen: Screen,
  work: 'read' | 'checked',
  totalBytes?: number,
  now = () => performance.now(),
) {
  const startedAt = now();
  let drawnAt = startedAt;
  let takenBytes = 0;
  /** The escape sequence that removes the shown line. */
  let eraser = '';

  // A terminal of unknown width reports 0.
  const room = () => (screen.columns || usualColumns) - 1;

  function draw(text: string, after: string, erasing: string): void {
    if (screen.isTTY !== true) return;
    screen.write(`${eraser}${text.slice(0, room())}${after}`);
    eraser = erasing;
  }

  return {
    /** Adds bytes that were read. */
    bytes: (more: number) => {
      takenBytes += more;
    },
    /** Sets the number of finished records. */
    done: (records: number) => {
      const at = now();
      if (at - drawnAt < commandLineBounds.progressMs) return;
      drawnAt = at;
      const share = totalBytes === undefined ? undefined : Math.min(takenBytes / totalBytes, 1);
      draw(progressLine(work, records, (at - startedAt) / 1_000, share, room()), '', clearLine);
    },
    /** Shows the number of records being written, on a whole line: an interrupt leaves it on the screen. */
    writing: (records: number) =>
      draw(`writing ${grouped(records)} records in one transaction …`, '\n', `${lineUp}${clearLine}`),
    clear: () => {
      if (eraser !== '') screen.write(eraser);
      eraser = '';
    },
  };
}

/** Leaves out the bar if the line is too narrow for it. */
function progressLine(
  work: string,
  records: number,
  seconds: number,
  share: number | undefined,
  room: number,
): string {
  const count = `${grouped(records)} ${work}  ${grouped(Math.round(records / seconds))}/s`;
  if (share === undefined) return count;
  const bar = '#'.repeat(Math.round(share * barCharacters)).padEnd(barCharacters, '.');
  const percent = `${Math.floor(share * 100)}%`;
  const left = share === 0 ? '' : `  ${clock((seconds * (1 - share)) / share)} left`;
  const line = `[${bar}]${percent.padStart(5)}  ${count}${left}`;
  return line.length <= room ? line : `${percent}  ${count}${left}`;
}

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** Formats seconds as 2:03, or 1:02:03 from one hour on. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const texts = parts.slice(parts[0] === 0 ? 1 : 0).map((part) => String(part).padStart(2, '0'));
  return texts.join(':').replace(/^0/, '');
}
