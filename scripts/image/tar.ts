/** Writes tar files in the ustar format. The same entries give the same bytes. */

const blockBytes = 512;

export interface Entry {
  /** Without a leading slash. A path with a slash at its end is a folder. */
  readonly path: string;
  readonly mode: number;
  /** The number of the user and the group; root if absent. */
  readonly owner?: number;
  readonly content?: Buffer;
}

export const file = (path: string, content: Buffer | string): Entry => ({
  path,
  mode: 0o644,
  content: Buffer.from(content),
});

/** A program. */
export const executable = (path: string, content: Buffer | string): Entry => ({
  ...file(path, content),
  mode: 0o755,
});

/** Writes the entries and their folders in the order of their paths, with the time 0 and without names. */
export function writeTar(entries: readonly Entry[]): Buffer {
  const all = new Map(
    entries.flatMap(({ path }) => foldersOf(path)).map((path) => [path, { path, mode: 0o755 } as Entry]),
  );
  for (const entry of entries) all.set(entry.path, entry);
  const sorted = [...all.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const parts = sorted.flatMap(({ content = Buffer.alloc(0), ...entry }) => [
    headerOf(entry, content.length),
    content,
    Buffer.alloc(-content.length & (blockBytes - 1)),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

/** The folders around a path: `a/` and `a/b/` of `a/b/c`. */
function foldersOf(path: string): string[] {
  const names = path.replace(/\/$/, '').split('/').slice(0, -1);
  return names.map((_, index) => `${names.slice(0, index + 1).join('/')}/`);
}

function headerOf({ path, mode, owner = 0 }: Entry, size: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const [prefix, name] = splitPath(path);
  const octal = (value: number, offset: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset, 'latin1');
  header.write(name);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write(path.endsWith('/') ? '5' : '0', 156);
  header.write('ustar\0' + '00', 257);
  header.write(prefix, 345);
  // The checksum is the sum of all bytes, with spaces in its own place.
  header.fill(' ', 148, 156);
  octal(
    header.reduce((sum, byte) => sum + byte),
    148,
    7,
  );
  return header;
}

/** A header has 155 bytes for the first folders of a path and 100 for the rest. */
function splitPath(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return [prefix, name];
  }
  throw new Error(`This path is too long for a tar file: ${path}`);
}
