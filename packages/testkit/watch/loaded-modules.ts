/** Import it first into a process: at its end, the last line on standard error lists the loaded modules. */
import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const files: string[] = [];

registerHooks({
  load: (url, context, load) => {
    files.push(url);
    return load(url, context);
  },
});

/** Node's own modules. The types lack this list. */
const { moduleLoadList } = process as unknown as { moduleLoadList: readonly string[] };

if (isMainThread) {
  process.on('exit', () => process.stderr.write(`${JSON.stringify([...files, ...moduleLoadList])}\n`));
}
