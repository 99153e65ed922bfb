/**
 * Makes stack traces of the package name lines of the sources and of libraries. Only the package contains
 * this module. `--enable-source-maps` would read the maps at the start, which takes 40 ms. A map is dropped
 * after its use, because it takes 20 MB of memory; the positions that were found stay.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const known = new Map<string, string>();

function sourceOf(position: string, file: string, line: string, column: string): string {
  try {
    const map = new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`, folder), 'utf8')));
    const found = map.findOrigin(Number(line), Number(column));
    if (!('fileName' in found)) return position;
    return `${found.fileName.replace(/^(\.\.\/)+/, '')}:${found.lineNumber}:${found.columnNumber}`;
  } catch {
    return position;
  }
}

const folder = new URL('../../..', import.meta.url).href;
/** Frames of libraries name files, not URLs. */
const path = fileURLToPath(folder);

Error.prepareStackTrace = (error, frames) => {
  const lines = frames.map((frame) =>
    String(frame).replace(/[^\s(]*?([\w-]+\.c?js):(\d+):(\d+)/, (position, file, line, column) => {
      if (!position.includes(folder) && !position.startsWith(path)) return position;
      if (!known.has(position)) known.set(position, sourceOf(position, file, line, column));
      return known.get(position)!;
    }),
  );
  return [String(error), ...lines.map((line) => `    at ${line}`)].join('\n');
};
