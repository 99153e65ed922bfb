import { postgresBounds } from '@partner-network/common/bounds/store';
import type { Values } from '@partner-network/common/command-line/options';
import { type listenSettings, resolveListen } from './listen.ts';
import type { ServiceSettings } from './serve.ts';

/** A sandbox is one process on an embedded database, without Redis and traces. */
export function resolveSandbox(config: Values<typeof listenSettings>, path: string): ServiceSettings {
  return {
    ...resolveListen(config),
    environment: 'sandbox',
    database: { engine: 'sqlite', path },
    storeOptions: { replicas: [], connections: postgresBounds.connections, keepsSession: true },
    redis: undefined,
    instances: 1,
    tracing: undefined,
  };
}
