/** The lowest layer: Node, the shared libraries that it needs, and the files in rootfs/. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { filesIn } from './dependencies.ts';
import { type Entry, executable, file } from './tar.ts';

/** The user that runs the service, as in other images without a shell. */
export const user = 65_532;

interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}

/** A shared library, and the package of Debian that it comes from, where that is known. */
export interface SharedLibrary {
  readonly path: string;
  readonly content: Buffer;
  readonly debian?: DebianPackage;
}

export interface Base {
  readonly entries: readonly Entry[];
  readonly libraries: readonly SharedLibrary[];
}

/** Files that are in every image: what a C library expects in /etc, and the command. */
const ownFiles = join(import.meta.dirname, 'rootfs');

/** `folder` is the package of Node for this machine. */
export function readBase(folder: string): Base {
  const node = join(folder, 'bin/node');
  const libraries = sharedLibrariesOf(node);
  const packages = new Set(libraries.flatMap(({ debian }) => debian?.name ?? []));
  const copyrights = [...packages].map((name) => `/usr/share/doc/${name}/copyright`).filter(existsSync);
  return {
    libraries,
    entries: [
      executable('usr/bin/node', readFileSync(node)),
      ...libraries.map(({ path, content }) => executable(path.slice(1), content)),
      file('usr/share/doc/node/LICENSE', readFileSync(join(folder, 'LICENSE'))),
      ...copyrights.map((path) => file(path.slice(1), readFileSync(path))),
      ...filesIn(ownFiles),
      { path: 'data/', mode: 0o750, owner: user },
      { path: 'tmp/', mode: 0o1777 },
    ],
  };
}

/** Node lists what the loader has loaded into it, at the paths where the loader looks for it. */
function sharedLibrariesOf(node: string): SharedLibrary[] {
  // Without this, a report looks up the names of other machines.
  const report = 'process.report.excludeNetwork = true, process.report.getReport()';
  const words = ['--print', `JSON.stringify((${report}).sharedObjects)`];
  const loaded: string[] = JSON.parse(execFileSync(node, words, { env: {}, encoding: 'utf8' }));
  // The kernel's own object has no file.
  const paths = loaded.filter((path) => path.startsWith('/')).toSorted();
  const packages = debianPackagesOf(paths);
  return paths.map((path) => {
    const debian = packages.get(path) ?? packages.get(`/usr${path}`);
    return { path, content: readFileSync(path), ...(debian && { debian }) };
  });
}

/** The packages of files, where this machine is a Debian. Its lists may name a file of /lib in /usr/lib. */
function debianPackagesOf(paths: readonly string[]): Map<string, DebianPackage> {
  if (programsOnPath(['dpkg-query']).length === 0) return new Map();
  const query = (...words: string[]) =>
    spawnSync('dpkg-query', words, { encoding: 'utf8' }).stdout.trimEnd().split('\n');
  const owners = query('--search', ...paths, ...paths.map((path) => `/usr${path}`)).flatMap((line) => {
    const [, owner, path] = /^(\S+): (.+)$/.exec(line) ?? [];
    return owner && path ? [{ owner, path }] : [];
  });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders.
  const format = '--showformat=${binary:Package} ${Package} ${Version} ${Architecture}\n';
  const shown = query('--show', format, ...owners.map(({ owner }) => owner)).map((line) => line.split(' '));
  const known = new Map(
    shown.map(([owner = '', name = '', version = '', architecture = '']) => [
      owner,
      { name, version, architecture },
    ]),
  );
  return new Map(owners.map(({ owner, path }) => [path, known.get(owner)!]));
}
