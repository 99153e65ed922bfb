/** The image that the Containerfile describes: the same settings, and the same tests. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { runtimeConfig } from '../../scripts/image/config.ts';
import { read, root } from '../sources.ts';
import { without, withoutImage } from './bundle.ts';

/** The words of an instruction in the last stage. */
function instruction(name: string): string {
  const [, stage = ''] = read('deploy/Containerfile')
    .replaceAll(/\\\n\s*/g, '')
    .split('FROM scratch');
  return new RegExp(`^${name} (.*)$`, 'm').exec(stage)?.[1] ?? assert.fail(`no ${name}`);
}

test('the Containerfile has the settings of the image', () => {
  const [, flags = ''] =
    /^#!.* node (.*)$/m.exec(read('packages/partner-network/bin/partner-network.js')) ?? [];
  const config = runtimeConfig(flags.split(' '));
  const { Test, Interval, Timeout, StartPeriod } = config.Healthcheck;
  const times = { interval: Interval, timeout: Timeout, 'start-period': StartPeriod };
  const options = Object.entries(times).map(([name, ns]) => `--${name}=${ns / 1e9}s`);
  assert.deepEqual(
    {
      user: instruction('USER'),
      folder: instruction('WORKDIR'),
      variables: instruction('ENV').split(' '),
      ports: instruction('EXPOSE').split(' '),
      volumes: [instruction('VOLUME')],
      stop: instruction('STOPSIGNAL'),
      health: instruction('HEALTHCHECK'),
      program: JSON.parse(instruction('ENTRYPOINT')),
      words: JSON.parse(instruction('CMD')),
    },
    {
      user: config.User,
      folder: config.WorkingDir,
      variables: config.Env,
      ports: Object.keys(config.ExposedPorts).map((port) => port.replace('/tcp', '')),
      volumes: Object.keys(config.Volumes),
      stop: config.StopSignal,
      health: `${options.join(' ')} CMD ["${Test.slice(1).join('", "')}"]`,
      program: config.Entrypoint,
      words: config.Cmd,
    },
  );
});

test('a builder gets the files that the Containerfile copies, and no data of the checkout', () => {
  const copied = [...read('deploy/Containerfile').matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  const lines = read('.dockerignore').split('\n');
  assert.ok(lines.includes('*'));
  assert.deepEqual(
    lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)),
    copied,
  );
});

const base = process.env.TEST_NODE_IMAGE;
const skip =
  withoutImage ||
  without('buildah') ||
  (base === undefined && 'needs TEST_NODE_IMAGE, the name of an image with Node 24 and npm');

test('buildah builds the Containerfile, and its image passes the tests of the image', { skip }, (t) => {
  const folder = temporaryFolder(t);
  const buildah = (...words: string[]) => {
    const { status, stderr } = spawnSync('buildah', words, { cwd: root, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  const name = 'localhost/partner-network:test';
  const builtOn = `NODE_IMAGE=${base}`;
  const file = '--file=deploy/Containerfile';
  buildah('build', file, '--format=docker', '--network=host', '--build-arg', builtOn, '--tag', name, '.');
  t.after(() => buildah('rmi', name));
  buildah('push', name, `oci:${join(folder, 'image')}:test`);
  const files = ['walk', 'faults'].map((test) => `test/image/${test}.test.ts`);
  const { status, stdout } = spawnSync(process.execPath, ['--test', ...files], {
    cwd: root,
    env: { ...process.env, TEST_IMAGE: join(folder, 'image'), NODE_TEST_CONTEXT: undefined },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^ℹ skipped 0$/m);
});
