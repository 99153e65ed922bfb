/** Programs of the machine that tests use. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where programs of these names stand, in the order of the PATH; after it in the order of more folders. */
export function programsOnPath(names: readonly string[], moreFolders: readonly string[] = []): string[] {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...moreFolders];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).filter(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
