import cluster from 'node:cluster';
import { command } from '@partner-network/common/command-line/command';
import { serveUntilStopped } from '@partner-network/service/serve/run';
import { openService } from '@partner-network/service/serve/service';
import { conflictsOfServe, resolveServe, serveSettings } from '@partner-network/service/settings';

export const serve = command({
  options: serveSettings,
  conflicts: conflictsOfServe,
  run: async (config, _words, output) => {
    const settings = resolveServe(config);
    if (cluster.isWorker)
      return (await import('@partner-network/service/serve/workers/worker')).serveAsWorker(settings);
    // A worker would see only some requests of a rehearsal.
    if (settings.workers === 1 && settings.environment === 'sandbox') {
      const { openSandboxService } = await import('@partner-network/service/rehearsals/rehearsals');
      return serveUntilStopped(settings, openSandboxService, output);
    }
    if (settings.workers === 1) return serveUntilStopped(settings, openService, output);
    const { openWorkers } = await import('@partner-network/service/serve/workers/supervisor');
    return serveUntilStopped(settings, openWorkers, output);
  },
});
