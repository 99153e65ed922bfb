/** Runs the image with runc: a read-only root, no capabilities, and only /data to write to. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Lifetime,
  openLifetime,
  temporaryFolder,
  until,
} from '../../packages/testkit/fixtures/lifetime.ts';
import { type Finished, start } from '../../packages/testkit/fixtures/run.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';

/** What runs in a container, as the image describes it. */
export interface Bundle {
  readonly rootfs: string;
  readonly process: {
    readonly args: readonly string[];
    readonly env: readonly string[];
    readonly cwd: string;
    readonly user: { readonly uid: number; readonly gid: number };
  };
}

interface Mount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

const [runc] = programsOnPath(['runc'], ['/usr/sbin', '/usr/local/sbin']);

export const bind = (source: string, destination: string, access: 'ro' | 'rw'): Mount => ({
  destination,
  type: 'bind',
  source,
  options: ['rbind', access, 'nosuid', 'nodev'],
});

/** It shares the network of the machine, so that a test can reach it. */
const configOf = ({ rootfs, process }: Bundle, mounts: readonly Mount[]) => ({
  ociVersion: '1.0.2',
  process: { ...process, terminal: false, capabilities: {}, noNewPrivileges: true },
  root: { path: rootfs, readonly: true },
  hostname: 'container',
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=64k'] },
    ...mounts,
  ],
  linux: { namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
});

/** Why tests with runc are skipped, or false. Tries a program of this machine: a sandbox may forbid it. */
export async function withoutRunc(): Promise<string | false> {
  if (runc === undefined) return 'needs runc (apt-get install runc)';
  if (process.getuid?.() !== 0) return 'needs root, to run containers';
  await using scope = openLifetime();
  const rootfs = temporaryFolder(scope);
  const folders = ['/bin', '/lib', '/lib64', '/usr'].filter(existsSync);
  for (const folder of folders) mkdirSync(join(rootfs, folder));
  const probe = { rootfs, process: { args: ['/bin/true'], env: [], cwd: '/', user: { uid: 0, gid: 0 } } };
  const mounts = folders.map((folder) => bind(folder, folder, 'ro'));
  const { status, stderr } = await launch(scope, probe, mounts).finished;
  return status === 0 ? false : `runc cannot run containers here: ${stderr.trim().split('\n').at(-1)}`;
}

/** Starts a container, which is removed at the end of the test. */
function launch(t: Lifetime, bundle: Bundle, mounts: readonly Mount[]) {
  // Not removed before the container: runc keeps the container's state in it.
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-'));
  const pidFile = join(folder, 'pid');
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configOf(bundle, mounts)));
  const id = `partner-network-${randomUUID()}`;
  const state = ['--root', join(folder, 'state')];
  // Before `start`, whose own end waits for the container.
  t.after(async () => {
    spawnSync(runc!, [...state, 'delete', '--force', id]);
    await running.ended;
    rmSync(folder, { recursive: true });
  });
  const words = [...state, 'run', '--bundle', folder, '--pid-file', pidFile, id];
  const running = start(t, words, { program: runc! });
  return {
    ...running,
    finished: running.ended.then((status): Finished => ({ status, ...running.texts() })),
    /** Its first process, as a number of this machine, when it has started. */
    pid: async () => {
      await until(20_000, () => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '');
      return Number(readFileSync(pidFile, 'utf8'));
    },
    /** Runs a program in the running container. */
    exec: (...program: string[]): Finished =>
      spawnSync(runc!, [...state, 'exec', id, ...program], { encoding: 'utf8' }),
  };
}

type Variables = Readonly<Record<string, string>>;

/** Starts a command of the image. The variables replace those of the image. */
export function startContainer(
  t: Lifetime,
  bundle: Bundle,
  words: readonly string[],
  variables: Variables,
  mounts: readonly Mount[],
) {
  const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const kept = bundle.process.env.filter((text) => !(text.split('=')[0]! in variables));
  const process = { ...bundle.process, args: [...bundle.process.args, ...words], env: [...kept, ...given] };
  return launch(t, { ...bundle, process }, mounts);
}

/** Containers of an image that share a folder as /data. */
export function openContainers(t: Lifetime, bundle: Bundle) {
  const data = temporaryFolder(t);
  const { uid, gid } = bundle.process.user;
  chownSync(data, uid, gid);
  const startHere = (words: readonly string[], variables: Variables = {}) =>
    startContainer(t, bundle, words, variables, [bind(data, '/data', 'rw')]);
  return {
    data,
    start: startHere,
    /** Runs a command to its end. */
    run: (words: readonly string[], variables?: Variables) => startHere(words, variables).finished,
  };
}
