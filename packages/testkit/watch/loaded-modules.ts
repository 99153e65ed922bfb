/** Imported into a process before all else: at its end it tells what was loaded, in the last line it says. */
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const files: string[] = [];

registerHooks({
  load: (url, context, load) => {
    files.push(url);
    return load(url, context);
  },
});

/** Node's own parts; its types do not know the list. */
const { moduleLoadList } = process as unknown as { moduleLoadList: readonly string[] };

if (isMainThread) {
  process.on('exit', () => process.stderr.write(`${JSON.stringify([...files, ...moduleLoadList])}\n`));
}
