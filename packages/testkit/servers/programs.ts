/** Finds programs of the machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The paths of executables with these names: first on the PATH, then in other folders. */
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
