/** Why a file of the operator could not be written, and what to do. */
export function whyNotWritten(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: 'its folder does not exist. Create the folder, or correct the path',
    ENOTDIR: 'a part of its path is not a folder. Correct the path',
    EISDIR: 'it is a folder. Name a file',
    EACCES: 'this user may not write there. Change the permissions, or name another path',
    EEXIST: 'the file exists. Name a new file',
  };
  return known[code] ?? message;
}
