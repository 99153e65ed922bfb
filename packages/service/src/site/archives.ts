/**
 * Archives whose bytes depend only on their files. Times and modes are fixed. Nothing is compressed, because
 * compression has other results on other machines.
 */
import { crc32, gzipSync } from 'node:zlib';

/** The content of each file, by its path in the archive. */
export type Files = Readonly<Record<string, string | Buffer>>;

/** A package for npm. */
export function tarball(files: Files): Buffer {
  const paths = Object.keys(files).toSorted();
  const parts = paths.flatMap((path) => {
    const name = `package/${path}`;
    if (name.length > 100) throw new Error(`The path ${name} is too long for an archive.`);
    const content = Buffer.from(files[path]!);
    const header = Buffer.alloc(512);
    const octal = (value: number) => value.toString(8).padStart(11, '0');
    // The time is that of all files in npm's own packages. The checksum counts its own field as blanks.
    const [size, time] = [octal(content.length), octal(499_162_500)];
    const mode = path.startsWith('bin/') ? '0000755' : '0000644';
    const fields = { 0: name, 100: mode, 124: size, 136: time, 148: '        0', 257: 'ustar\x0000' };
    for (const [at, field] of Object.entries(fields)) header.write(field, Number(at));
    header.write(`${octal(header.reduce((sum, byte) => sum + byte)).slice(-6)}\0`, 148);
    return [header, content, Buffer.alloc(-content.length & 511)];
  });
  const gzip = gzipSync(Buffer.concat([...parts, Buffer.alloc(1_024)]), { level: 0 });
  // The number of the system that made it: unknown.
  gzip[9] = 255;
  return gzip;
}

const words = (...values: number[]) => Buffer.from(new Uint16Array(values).buffer);
const long = (value: number) => [value & 0xffff, value >>> 16];

/** A package for Python. */
export function zip(files: Files): Buffer {
  const contents: Buffer[] = [];
  const directory = Object.entries(files).map(([path, text]) => {
    const offset = Buffer.concat(contents).length;
    const [name, content] = [Buffer.from(path), Buffer.from(text)];
    const size = long(content.length);
    // Version 2.0, stored, 1 January 1980.
    const facts = words(20, 0, 0, 0, 0x21, ...long(crc32(content)), ...size, ...size, name.length, 0);
    contents.push(words(0x4b50, 0x0403), facts, name, content);
    return Buffer.concat([words(0x4b50, 0x0201, 20), facts, words(0, 0, 0, 0, 0, ...long(offset)), name]);
  });
  const [first, second] = [Buffer.concat(contents), Buffer.concat(directory)];
  const count = directory.length;
  const end = words(0x4b50, 0x0605, 0, 0, count, count, ...long(second.length), ...long(first.length), 0);
  return Buffer.concat([first, second, end]);
}
