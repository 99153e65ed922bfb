/** The packages that run in production, as they are in the lockfile and in node_modules. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Entry, executable, file } from './tar.ts';

type Versions = Readonly<Record<string, string>>;

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependencies?: Versions;
}

export interface Installed extends Manifest {
  /** Its folder in the repository, such as `node_modules/pg`. */
  readonly place: string;
}

/** Files that only a compiler or a debugger needs: half of the bytes. */
const isUnused = (path: string) => /\.(d\.[cm]?ts|map)$/.test(path);

/** All packages that `manifest` needs, optional ones included, if the lockfile has them. */
export function dependenciesOf(root: string, manifest: Manifest): Installed[] {
  const locked: Readonly<Record<string, Manifest>> = readJson(join(root, 'package-lock.json')).packages;
  const found = new Map<string, Installed>();
  const add = (wanted: Manifest, from: string) => {
    const { dependencies = {}, optionalDependencies, peerDependencies } = wanted;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const place = placesAbove(from, name).find((candidate) => candidate in locked);
      if (place === undefined && name in dependencies) throw new Error(`package-lock.json has no ${name}.`);
      if (place === undefined || found.has(place)) continue;
      found.set(place, { ...installedAt(root, place, locked[place]!), place });
      add(locked[place]!, place);
    }
  };
  add(manifest, '');
  return [...found.values()];
}

/** Where Node looks for a package, nearest first. */
function placesAbove(from: string, name: string): string[] {
  const parents = from.split(/(?=\/node_modules\/)/);
  const folders = parents.map((_, count) => parents.slice(0, parents.length - count).join(''));
  return [
    ...folders.filter(Boolean).map((folder) => `${folder}/node_modules/${name}`),
    `node_modules/${name}`,
  ];
}

/** The manifest of an installed package. Fails if it is not the version of the lockfile. */
function installedAt(root: string, place: string, { version }: Manifest): Manifest {
  let installed: Manifest | undefined;
  try {
    installed = readJson(join(root, place, 'package.json'));
  } catch {}
  if (installed?.version === version) return installed;
  throw new Error(`${place} is not installed as package-lock.json says. Run "npm ci".`);
}

/** The files of a package that run. Packages inside it are not part of it. */
export function filesOf(folder: string): Entry[] {
  return filesIn(folder).filter(({ path }) => !path.startsWith('node_modules/') && !isUnused(path));
}

/** All files below a folder. Git, too, keeps only whether a file is a program. */
export function filesIn(folder: string): Entry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => {
      const kind = statSync(path).mode & 0o100 ? executable : file;
      return kind(relative(folder, path), readFileSync(path));
    });
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
