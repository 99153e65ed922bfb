/** A file system of a few megabytes, which can be filled up. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SmallDisk = Exclude<ReturnType<typeof mountSmallDisk>, string>;

/** Unmounts when the test process is done or gone. */
const unmountScript = `
trap '' HUP INT TERM
read -r nothing
umount -l "$1"
rmdir "$1"
`;

/** Returns the reason in a sentence if it cannot be mounted. */
export function mountSmallDisk(megabytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-disk-'));
  const words = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder];
  const { status, stderr, error } = spawnSync('mount', words, { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(folder, { recursive: true });
    return `this takes the right to mount a file system in memory: ${error?.message ?? stderr.trim()}`;
  }
  const unmounter = spawn('sh', ['-c', unmountScript, 'unmount', folder], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const filling = join(folder, 'filling');
  return {
    folder,
    /** Fills it up to the last `bytesLeft` bytes. */
    fillUp: (bytesLeft = 0) => {
      const file = openSync(filling, 'a');
      try {
        while (true) writeSync(file, Buffer.alloc(64 * 1_024));
      } catch (full) {
        if ((full as NodeJS.ErrnoException).code !== 'ENOSPC') throw full;
      } finally {
        closeSync(file);
      }
      truncateSync(filling, Math.max(statSync(filling).size - bytesLeft, 0));
    },
    /** Frees what `fillUp` took. */
    makeRoom: () => rmSync(filling, { force: true }),
    remove: async () => {
      unmounter.stdin.end();
      await once(unmounter, 'exit');
    },
  };
}
