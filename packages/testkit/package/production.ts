/** The packages that run in production, as they are in the lockfile and in node_modules. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  /** Whether it is one of our own packages. */
  readonly link?: boolean;
}

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

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
