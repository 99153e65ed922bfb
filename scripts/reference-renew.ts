/**
 * `node scripts/reference-renew.ts [VERSION]`: fetches the library of the reference page at /docs, checks its
 * digest, and stores its one bundled file, compressed. As a dependency it would install 270 unused packages
 * with 290 MB.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const folder = new URL('../packages/service/assets/reference/', import.meta.url);
const recordPath = new URL('library.json', folder);
const record = JSON.parse(readFileSync(recordPath, 'utf8'));
const version = process.argv[2] ?? record.version;

const otherCode = `This is the license of Scalar. The file library.js.br also holds code of other libraries,
each under the license that its banner in there names.
`;

const place = mkdtempSync(join(tmpdir(), 'partner-network-'));
try {
  const wanted = `${record.name}@${version}`;
  const npm = ['pack', wanted, '--json', '--pack-destination', place];
  const [packed] = JSON.parse(execFileSync('npm', npm, { encoding: 'utf8' }));
  const archive = join(place, packed.filename);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  assert.equal(integrity, version === record.version ? record.integrity : packed.integrity, wanted);

  const unpack = (name: string) =>
    execFileSync('tar', ['-xzOf', archive, `package/${name}`], { maxBuffer: 64 * 1024 * 1024 });
  const entries = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).split('\n');
  const { license } = JSON.parse(unpack('package.json').toString());
  assert.equal(license, record.license, 'The license changed: read it, and change the record and its text.');

  // If the package has no license text, the stored text from its repository stays.
  if (entries.includes('package/LICENSE')) {
    writeFileSync(
      new URL('LICENSE-scalar.txt', folder),
      `${unpack('LICENSE').toString().trim()}\n\n${otherCode}`,
    );
  }

  const bundle = unpack(record.file);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bundle.length,
  };
  writeFileSync(new URL('library.js.br', folder), brotliCompressSync(bundle, { params }));
  const sha256 = createHash('sha256').update(bundle).digest('hex');
  const renewed = { ...record, version, integrity, sha256 };
  writeFileSync(recordPath, `${JSON.stringify(renewed, undefined, 2)}\n`);
} finally {
  rmSync(place, { recursive: true });
}
