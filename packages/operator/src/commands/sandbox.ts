import { join } from 'node:path';
import { commandLineBounds } from '@partner-network/common/bounds/command-line';
import { actor } from '@partner-network/common/command-line/actor';
import { command } from '@partner-network/common/command-line/command';
import { defaulted, plainText } from '@partner-network/common/command-line/options';
import { createLog } from '@partner-network/common/observability/log';
import { createStopSignal } from '@partner-network/common/signals';
import { basePath } from '@partner-network/contract/operations';
import { drainOn } from '@partner-network/service/serve/drain';
import { openService } from '@partner-network/service/serve/service';
import { listenSettings, logLevel } from '@partner-network/service/settings/listen';
import { resolveSandbox } from '@partner-network/service/settings/sandbox';
import { openStore } from '@partner-network/store/engines';
import { demoKeys } from '../demo/data.ts';
import { fillWithDemo } from '../demo/fill.ts';

export const sandbox = command({
  options: {
    data: defaulted('DIR', plainText(commandLineBounds.pathCharacters), 'data', 'folder of the database'),
    ...listenSettings,
    'log-level': logLevel('warn'),
    actor,
  },
  run: async (values, _words, output) => {
    const stop = createStopSignal();
    const settings = resolveSandbox(values, join(values.data, 'sandbox.db'));
    const log = createLog(settings.logLevel);
    const store = await openStore(settings.database, settings.environment, 'create');
    try {
      await fillWithDemo(store, { actor: values.actor, action: 'sandbox' });
    } finally {
      await store.close();
    }
    await using opened = new AsyncDisposableStack();
    const service = await openService(settings, log, opened, {
      demoKey: demoKeys[0].text,
      beforeRequests: stop.listen,
    });
    output.answer(greeting(service.publicUrl));
    await drainOn(stop.signal, 0, service, log);
    await opened.disposeAsync();
    output.answer('Stopped.');
  },
});

function greeting(publicUrl: string): string {
  const baseUrl = publicUrl + basePath;
  const key = demoKeys[0].text;
  const call = (path: string) => `curl -H 'Authorization: Bearer ${key}' '${baseUrl}${path}'`;
  return `Partner Network sandbox

  Base URL  ${baseUrl}
  Demo key  ${key}
  Reference ${publicUrl}/docs
  Failures  ${publicUrl}/rehearsals

Try it:

  ${call('/brands?limit=1')}

  ${call('/balances?customer_id=CUSTOMER_1001&type=CHECKING')}

${publicUrl}/docs#tag/sandbox lists more demo keys, customers and grants.
Press Ctrl-C to stop.
`;
}
