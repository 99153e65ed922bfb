import cluster from 'node:cluster';
import { command } from '../command-line/command.ts';
import { serveUntilStopped } from '../serve/run.ts';
import { openService } from '../serve/service.ts';
import { conflictsOfServe, resolveServe, serveSettings } from '../serve/settings.ts';

export const serve = command({
  options: serveSettings,
  conflicts: conflictsOfServe,
  run: async (config, _words, output) => {
    const settings = resolveServe(config);
    if (cluster.isWorker) return (await import('../serve/workers/worker.ts')).serveAsWorker(settings);
    if (settings.workers === 1) return serveUntilStopped(settings, openService, output);
    const { openWorkers } = await import('../serve/workers/supervisor.ts');
    return serveUntilStopped(settings, openWorkers, output);
  },
});
