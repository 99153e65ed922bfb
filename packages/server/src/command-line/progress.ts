import { commandLineBounds } from '../bounds/command-line.ts';

/** What can show progress; only a terminal does. */
interface Screen {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

interface Progress {
  /** So many more bytes were taken in. */
  bytes(more: number): void;
  /** So many records are done with until now. */
  done(records: number): void;
  /** So many records are being written, which takes a while. */
  writing(records: number): void;
  /** Leaves nothing behind. */
  clear(): void;
}

const silent: Progress = { bytes: () => {}, done: () => {}, writing: () => {}, clear: () => {} };

const barCharacters = 24;
const usualColumns = 80;
const clearLine = '\r\u001b[K';
const lineUp = '\u001b[1A';

/**
 * A line that tells how far long work has come: with a bar and the time left where it is known how much there
 * is, otherwise only the number and the rate.
 */
export function createProgress(
  screen: Screen,
  work: 'read' | 'checked',
  totalBytes?: number,
  now = () => performance.now(),
): Progress {
  if (screen.isTTY !== true) return silent;
  const startedAt = now();
  let drawnAt = startedAt;
  let takenBytes = 0;
  /** What takes the line that is shown away again. */
  let cleaning = '';

  // A terminal that does not know its width says 0.
  const room = () => (screen.columns || usualColumns) - 1;

  function draw(text: string, after: string, cleanUp: string): void {
    screen.write(`${cleaning}${text.slice(0, room())}${after}`);
    cleaning = cleanUp;
  }

  return {
    bytes: (more) => {
      takenBytes += more;
    },
    done: (records) => {
      const at = now();
      if (at - drawnAt < commandLineBounds.progressMs) return;
      drawnAt = at;
      const share = totalBytes === undefined ? undefined : Math.min(takenBytes / totalBytes, 1);
      draw(progressLine(work, records, (at - startedAt) / 1_000, share, room()), '', clearLine);
    },
    // The line is ended, because whoever interrupts a write leaves it there.
    writing: (records) => draw(`writing ${grouped(records)}, all or none …`, '\n', `${lineUp}${clearLine}`),
    clear: () => {
      if (cleaning !== '') screen.write(cleaning);
      cleaning = '';
    },
  };
}

/** Where there is no room for all of it, the figures tell more than the bar. */
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

/** Hours only where there are any: 1:02:03, 2:03. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const texts = parts.slice(parts[0] === 0 ? 1 : 0).map((part) => String(part).padStart(2, '0'));
  return texts.join(':').replace(/^0/, '');
}
