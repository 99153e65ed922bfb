/** How the image runs. Named as in https://github.com/opencontainers/image-spec. */
import { user } from './base.ts';

/** Where the packages are in the image. */
export const modules = 'usr/lib/node_modules';
const program = `/${modules}/partner-network/bin/partner-network.js`;

const secondNs = 1e9;

/**
 * The working directory is `/`, so that `sqlite:data/production.db` is in `/data`. Temporary files of SQLite
 * are there, too, because the rest may be read-only. The operations address has no authentication. So it
 * stays on the loopback interface unless OPS_HOST is set, and is not exposed, for `docker run -P`.
 */
export const runtimeConfig = (nodeFlags: readonly string[]) => ({
  User: `${user}:${user}`,
  WorkingDir: '/',
  Env: ['PATH=/usr/bin', 'HOST=0.0.0.0', 'SQLITE_TMPDIR=/data'],
  Entrypoint: ['/usr/bin/node', ...nodeFlags, program],
  Cmd: ['serve'],
  ExposedPorts: { '8080/tcp': {} },
  Volumes: { '/data': {} },
  StopSignal: 'SIGTERM',
  // An extension of Docker, which other tools ignore.
  Healthcheck: {
    Test: ['CMD', 'partner-network', 'ready'],
    Interval: 10 * secondNs,
    Timeout: 5 * secondNs,
    StartPeriod: 30 * secondNs,
  },
});

export type Config = ReturnType<typeof runtimeConfig>;
