/** The packages that run in production, as they are in the lockfile and in node_modules. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Entry, executable, file } from './tar.ts';

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  /** Whether it is one of our own packages. */
  readonly link?: boolean;
}

/** Files that only a compiler or a debugger needs: half of the bytes. */
const isUnused = (path: string) => /\.(d\.[cm]?ts|map)$/.test(path);

/**
 * The folders of all packages in production, such as `node_modules/pg`. Node itself is not among them. Fails
 * if one is not installed as the lockfile says.
 */
export function productionPackages(root: string): string[] {
  const locked: Readonly<Record<string, Locked>> = readJson(join(root, 'package-lock.json')).packages;
  return Object.entries(locked)
    .filter(([place, { dev, link }]) => /^node_modules\/(?!node-linux-)/.test(place) && !dev && !link)
    .map(([place, { version }]) => {
      let installed: Locked | undefined;
      try {
        installed = readJson(join(root, place, 'package.json'));
      } catch {}
      if (installed?.version === version) return place;
      throw new Error(`${place} is not installed as package-lock.json says. Run "npm ci".`);
    });
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
