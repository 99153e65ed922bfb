import { command } from '@partner-network/common/command-line/command';
import { toAdminister } from '@partner-network/store/address';
import { openStore } from '@partner-network/store/engines';
import { adminSettings, conflictsOfAdmin, resolveAdmin } from '../admin/settings.ts';
import { adminUntilStopped } from '../console/serve.ts';

export const admin = command({
  options: adminSettings,
  conflicts: conflictsOfAdmin,
  run: async (config, _words, output) => {
    const settings = resolveAdmin(config);
    const { database, environment, storeOptions } = settings;
    const store = await openStore(database, environment, { ...toAdminister, ...storeOptions });
    try {
      await adminUntilStopped(store, settings, output);
    } finally {
      await store.close();
    }
  },
});
