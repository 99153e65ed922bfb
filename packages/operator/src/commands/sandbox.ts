import { join } from 'node:path';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { actor } from '@partner-network/common/command-line/changes';
import { command } from '@partner-network/common/command-line/command';
import {
  addedIn,
  defaulted,
  flag,
  plainText,
  setting,
  wholeNumber,
} from '@partner-network/common/command-line/options';
import { OperatorError } from '@partner-network/common/errors';
import { createLog } from '@partner-network/common/observability/log';
import { createStopSignal } from '@partner-network/common/process';
import { echo } from '@partner-network/common/text';
import { toTime } from '@partner-network/common/times';
import { basePath } from '@partner-network/contract/operations';
import type { RefusedRequest, Site } from '@partner-network/http/handle';
import { splitTarget } from '@partner-network/http/request';
import { openSandboxService } from '@partner-network/service/rehearsals/rehearsals';
import { drainOn } from '@partner-network/service/serve/run';
import { largestPort, listenSettings, logLevel, resolveSandbox } from '@partner-network/service/settings';
import { toAdminister, toCreate } from '@partner-network/store/address';
import { openStore } from '@partner-network/store/engines';
import type { Store } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { demoAdminKey, demoKeys } from '../demo/data.ts';
import { fillWithDemo, fillWithHistory } from '../demo/fill.ts';
import { findPersonalData } from '../ingest/personal-data.ts';

/** Always on this machine only: everybody knows the demo key. */
const adminHost = '127.0.0.1';

export const sandbox = command({
  options: {
    data: defaulted('DIR', plainText(commandLineBounds.pathCharacters), 'data', 'folder of the database'),
    ...listenSettings,
    ...addedIn('0.2.0', {
      'admin-port': setting(
        'PORT',
        'ADMIN_PORT',
        wholeNumber(0, largestPort),
        8090,
        `port of the administrative service on ${adminHost}; 0 starts none`,
      ),
    }),
    'log-level': logLevel('warn'),
    ...addedIn('0.3.0', { quiet: flag('print no lines about refused requests') }),
    actor,
  },
  run: async (values, _words, output) => {
    const stop = createStopSignal();
    const settings = resolveSandbox(values, join(values.data, 'sandbox.db'));
    const { database, environment } = settings;
    const log = createLog(settings.logLevel);
    const onRefusal = values.quiet ? undefined : (refused: RefusedRequest) => output.remark(lineOf(refused));
    const created = await openStore(database, environment, toCreate);
    const by = { actor: values.actor, action: 'sandbox' } as const;
    const isDemo = await fillWithDemo(created, by).finally(created.close);
    await using opened = new AsyncDisposableStack();
    const service = await openSandboxService(settings, log, opened, {
      demoKey: demoKeys[0].text,
      onRefusal,
      beforeRequests: stop.listen,
    });
    // A second store, opened as `admin` does: it notices before a change that its file was replaced.
    const store = await openStore(database, environment, toAdminister);
    opened.defer(store.close);
    const port = values['admin-port'];
    const admin = port === 0 ? undefined : await adminAt(port, store, settings, log, opened, onRefusal);
    if (port !== 0 && admin === undefined) {
      const why = `Port ${port} on ${adminHost} is in use, so this sandbox has no administrative service`;
      output.remark(`${why}: choose another port with --admin-port.`);
    }
    output.answer(greeting(service.publicUrl, admin?.publicUrl, values.data));
    // A thread writes it while requests are answered, so that no start waits for it.
    const history = isDemo ? fillWithHistory(store, by, Date.now()) : Promise.resolve();
    const noted = history.catch((err) => log.warn({ err }, 'the demo history was not written'));
    opened.defer(() => noted);
    const drain = () => {
      service.drain();
      admin?.drain();
    };
    const unanswered = () => (service.unanswered?.() ?? 0) + (admin?.unanswered() ?? 0);
    await drainOn(stop.signal, 0, { drain, unanswered }, log);
    await opened.disposeAsync();
    output.answer('Stopped.');
  },
});

/** The administrative service, or undefined if its port is taken: partners can do without it. */
async function adminAt(
  port: number,
  store: Store,
  { database }: ReturnType<typeof resolveSandbox>,
  log: Logger,
  opened: AsyncDisposableStack,
  onRefusal: Site['onRefusal'],
) {
  // Loaded only if it is served: that takes 30 ms, a tenth of a start.
  const { openAdmin } = await import('../console/serve.ts');
  const own = opened.use(new AsyncDisposableStack());
  try {
    const settings = { listener: { host: adminHost, port }, publicUrl: undefined, database };
    return await openAdmin(store, settings, log, own, '--admin-port', onRefusal);
  } catch (error) {
    const cause = error instanceof OperatorError ? (error.cause as NodeJS.ErrnoException) : undefined;
    if (cause?.code !== 'EADDRINUSE') throw error;
    await own.disposeAsync();
    return undefined;
  }
}

/** Without the query, which can have personal data. So can a path that does not exist. */
function lineOf({ requestId, status, code, method = '-', url = '' }: RefusedRequest): string {
  const { path } = splitTarget(url);
  const shown = findPersonalData(path) === undefined ? echo(path, 100) : '[personal data]';
  const what = `${method} ${shown}`.trimEnd();
  return `${toTime(Date.now()).slice(11, 19)} UTC  ${status} ${code}  ${what}  ${requestId}`;
}

/** Fits 80 columns, except the words of a call that a shell cannot break. */
function greeting(publicUrl: string, adminUrl: string | undefined, data: string): string {
  const baseUrl = publicUrl + basePath;
  const key = demoKeys[0].text;
  const call = (path: string) => `curl -H \\
    'Authorization: Bearer ${key}' \\
    '${baseUrl}${path}'`;
  const place = data === 'data' ? '' : ` \\\n    --database sqlite:${data}/sandbox.db`;
  const ofAdmin = `
  Console   ${adminUrl}/console
  Admin API ${adminUrl}/docs
  Admin key ${demoAdminKey.text}
`;
  return `Partner Network sandbox

  Base URL  ${baseUrl}
  Demo key  ${key}
  Reference ${publicUrl}/docs
  Failures  ${publicUrl}/rehearsals
  Commands  npx partner-network partners list --environment sandbox${place}
${adminUrl === undefined ? '' : ofAdmin}
Try it:

  ${call('/brands?limit=1')}

  ${call('/balances?customer_id=CUSTOMER_1001&type=CHECKING')}

${publicUrl}/docs/guides/sandbox lists more demo keys,
customers and grants.
Press Ctrl-C to stop.
`;
}
