/**
 * A machine that systemd boots: the files of this machine below a temporary layer, with its own processes,
 * mounts, network and control group. What runs in it cannot change this machine.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Lifetime, until } from '../../packages/testkit/fixtures/lifetime.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';

const systemd = '/lib/systemd/systemd';
const needed = 'unshare nsenter pivot_root systemctl systemd-run journalctl ip dbus-daemon'.split(' ');
/** Where the kernel shows control groups of the second version. */
const groups = /^\S+ (\S+) cgroup2 /m.exec(
  existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '',
);

/** Why this machine cannot boot another one, or false if it may be tried. */
export function whyNoMachine(): string | false {
  const missing = needed.filter((name) => programsOnPath([name], ['/usr/sbin']).length === 0);
  if (process.getuid?.() !== 0) return 'needs root';
  if (missing.length > 0 || !existsSync(systemd)) return `needs systemd and ${missing.join(', ')}`;
  return groups === null && 'needs control groups of the second version';
}

/** $1 is a folder whose files are added to those of this machine; $2 is an empty folder. */
const boot = `
  mount --make-rprivate /
  mount -t tmpfs tmpfs "$2"
  mkdir "$2/work" "$2/root"
  cp -a "$1" "$2/upper"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$2/upper,workdir=$2/work" "$2/root"
  cd "$2/root"
  mount -t proc proc proc
  mount --bind proc/sys proc/sys
  mount -o remount,bind,ro proc/sys
  mount -t sysfs -o ro sysfs sys
  mount -t cgroup2 none sys/fs/cgroup
  for folder in run tmp dev; do mount -t tmpfs tmpfs $folder; done
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  for device in null zero full random urandom tty; do
    touch dev/$device
    mount --bind /dev/$device dev/$device
  done
  # Nothing of this machine's own units is started.
  rm -rf {lib,etc}/systemd/system/*.target.wants etc/fstab
  ln -sf /dev/null etc/systemd/system/systemd-remount-fs.service
  printf '[Unit]\\nDefaultDependencies=no\\nWants=systemd-journald.service dbus.socket\\n' \\
    > etc/systemd/system/test.target
  : > etc/machine-id
  ip link set lo up
  mkdir -p mnt/old
  pivot_root . mnt/old
  cd /
  umount -l /mnt/old
  # As on a real machine: credentials of a service are mounted for all.
  mount --make-rshared /
  exec env -i container=test ${systemd} --system --unit=test.target --log-target=journal --show-status=no`;

/** Boots a machine with these files. It ends with the test. */
export async function bootMachine(t: Lifetime, folder: string, files: string) {
  const group = join(groups![1]!, `partner-network-test-${process.pid}`);
  const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup', '--fork', '--kill-child'];
  mkdirSync(group);
  const begin = `echo $$ > ${group}/cgroup.procs; exec unshare ${namespaces.join(' ')} "$@"`;
  const words = ['-c', begin, 'unshare', 'bash', '-euc', boot, 'boot', files, folder];
  const machine = spawn('bash', words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  machine.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  t.after(async () => {
    const ended = once(machine, 'close');
    if (machine.kill('SIGKILL')) await ended;
    // The groups are empty when their last process has ended.
    const remove = () => spawnSync('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
    await until(20_000, () => remove() && !existsSync(group));
  });
  const children = () => readFileSync(`/proc/${machine.pid}/task/${machine.pid}/children`, 'utf8').trim();
  const run = (script: string) => {
    // Without the settings of root's own terminal, which can take minutes.
    const inside = ['-t', children(), '--all', '--root', '--wd', 'bash', '--norc', '-c', script];
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' };
    return spawnSync('nsenter', inside, { env, encoding: 'utf8', timeout: 120_000 });
  };
  await until(20_000, () => {
    if (machine.exitCode !== null) throw new Error(`systemd does not boot: ${said}`);
    return children() !== '' && /^(running|degraded)/.test(run('systemctl is-system-running').stdout);
  });
  return { run };
}
