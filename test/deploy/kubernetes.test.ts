/** The manifests for Kubernetes: what kubectl builds from them, and every container of it with the image. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { httpBounds } from '../../packages/common/src/bounds/http.ts';
import { ingestBounds } from '../../packages/common/src/bounds/operator.ts';
import { receiptsBounds, tracingBounds } from '../../packages/common/src/bounds/service.ts';
import { postgresBounds } from '../../packages/common/src/bounds/store.ts';
import { isLongRun, temporaryFolder, until } from '../../packages/testkit/fixtures/lifetime.ts';
import { connectTo, startPostgres, withoutOwnServers } from '../../packages/testkit/servers/postgres.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { needsOwnRedis, startRedis } from '../../packages/testkit/servers/redis.ts';
import { blocksOf, shellBlocks } from '../documents/clone.ts';
import { openBundle } from '../image/bundle.ts';
import { withoutRunc } from '../image/runc.ts';
import { pageFor, read, root } from '../sources.ts';
import { newAddress, startPod } from './pods.ts';

// biome-ignore lint/suspicious/noExplicitAny: the compiler compares them with the types of Kubernetes.
type Resource = any;

const skip = programsOnPath(['kubectl']).length === 0 && 'needs kubectl (apt-get install kubernetes-client)';
const guide = pageFor('operators', 'kubernetes');

function build(overlay: string): Resource[] {
  const words = ['kustomize', `deploy/kubernetes/${overlay}`];
  const { status, stdout, stderr } = spawnSync('kubectl', words, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout).map((part) => part.toJS());
}
const [small = [], many = []] = skip ? [] : ['small', 'many'].map(build);

const podOf = ({ spec }: Resource): Resource => spec.jobTemplate?.spec.template ?? spec.template;
const podsOf = (resources: readonly Resource[]) => resources.flatMap((resource) => podOf(resource) ?? []);
const containersOf = ({ spec }: Resource) => [...(spec.initContainers ?? []), ...spec.containers];
const variablesOf = ({ env }: Resource): Record<string, string> =>
  Object.fromEntries(env.map(({ name, value }: Resource) => [name, value]));
const componentOf = ({ metadata }: Resource) => metadata.labels['app.kubernetes.io/component'];

/** What the compiler says about resources, as values of the types of Kubernetes. */
function faultsOf(folder: string, resources: readonly Resource[]): string {
  const lines = resources.map((resource, index) => {
    const group = resource.apiVersion.replace(/v1$/, '').replace(/\..*|\/$/, '') || 'core';
    const type = `import('${root}/node_modules/kubernetes-types/${group}/v1.d.ts').${resource.kind}`;
    return `export const resource${index}: ${type} = ${JSON.stringify(resource)};\n`;
  });
  writeFileSync(join(folder, 'resources.ts'), lines.join(''));
  const flags = '--noEmit --strict --ignoreConfig --module nodenext --types'.split(' ');
  const tsc = join(root, 'node_modules/.bin/tsc');
  return spawnSync(tsc, [...flags, '', 'resources.ts'], { cwd: folder, encoding: 'utf8' }).stdout;
}

test('kubectl builds the overlays, and Kubernetes has each of their fields', { skip }, (t) => {
  const [first] = small.filter(({ kind }) => kind === 'Deployment');
  const wrong = { ...first, spec: { ...first.spec, template: { spec: { container: [] } } } };
  const said = faultsOf(temporaryFolder(t), [...small, ...many, wrong]);
  assert.match(said, /^[^\n]*'"container"' does not exist[^\n]*\n$/, 'the only fault');
});

test('services, policies, budgets and the guide name what there is', { skip }, () => {
  const names = small.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
  const named = shellBlocks(guide).flatMap((block) => block.match(/\b(deployment|job)\/[\w-]+/g) ?? []);
  assert.ok(named.length > 5);
  for (const name of named) assert.ok(names.includes(name), name);
  for (const { metadata, spec } of [...small, ...many]) {
    const selector = spec.podSelector ?? spec.selector;
    const wanted = Object.entries(selector?.matchLabels ?? selector ?? {});
    const found = podsOf(many).filter(({ metadata: { labels } }) =>
      wanted.every(([name, value]) => labels[name] === value),
    );
    const ports = found.flatMap(containersOf).flatMap((one) => one.ports?.map(({ name }: Resource) => name));
    const asked = [...(spec.ports ?? []), ...(spec.ingress ?? []).flatMap((rule: Resource) => rule.ports)];
    assert.ok(found.length > 0, metadata.name);
    for (const { targetPort, port } of asked) assert.ok(ports.includes(targetPort ?? port), metadata.name);
  }
});

test('every pod may do as little as Kubernetes allows, and has memory, settings and time to stop', {
  skip,
}, () => {
  const { version } = JSON.parse(read('packages/partner-network/package.json'));
  const settings = read('docs/reference/operators/settings.md');
  const closeMs = receiptsBounds.closeMs + postgresBounds.closeMs + tracingBounds.closeMs;
  const { followCommitMs, followStoppedMs, followRetryMs } = ingestBounds;
  const feedMs = followCommitMs + followStoppedMs + 2 * followRetryMs + 4 * postgresBounds.closeMs;
  for (const { spec: outer, metadata, ...resource } of [...small, ...many]) {
    const { spec } = podOf({ spec: outer }) ?? {};
    if (spec === undefined) continue;
    assert.deepEqual([spec.automountServiceAccountToken, spec.enableServiceLinks], [false, false]);
    const user = { runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532, runAsNonRoot: true };
    assert.deepEqual(spec.securityContext, { ...user, seccompProfile: { type: 'RuntimeDefault' } });
    for (const container of containersOf({ spec })) {
      assert.equal(container.image, `registry.example/partner-network:${version.replace('-dev', '')}`);
      assert.deepEqual(container.securityContext, {
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      const variables = variablesOf(container);
      for (const name of Object.keys(variables)) assert.ok(settings.includes(`\`${name}\``), name);
      const { WORKERS, INSTANCES = outer.replicas, DRAIN_DELAY = 0 } = variables;
      assert.equal(Number(INSTANCES), outer.replicas ?? NaN);
      const memory = Number.parseInt(container.resources.requests.memory, 10);
      if (WORKERS !== undefined) assert.equal(memory, 384 * (Number(WORKERS) + 1));
      if (resource.kind !== 'Deployment') continue;
      const drainMs = Number(DRAIN_DELAY) * 1_000 + httpBounds.drainMs + closeMs;
      const stopMs = container.name === 'feed' ? feedMs : drainMs;
      assert.ok(spec.terminationGracePeriodSeconds * 1_000 >= stopMs, metadata.name);
    }
  }
});

/** Creates a folder for each secret, with the files that the guide puts into it. */
function createSecrets(folder: string, urls: Readonly<Record<string, string>>): void {
  chmodSync(folder, 0o755);
  const commands = shellBlocks(guide).join('\n').replaceAll('\\\n', '');
  for (const [, secret = '', flags = ''] of commands.matchAll(/ create secret generic (\S+)(.*)/g)) {
    mkdirSync(join(folder, secret));
    for (const [, name = '', login = ''] of flags.matchAll(/ --from-file=(\S+)=(\w+)-url/g)) {
      const path = join(folder, secret, name);
      writeFileSync(path, urls[login]!);
      // As a volume of a pod with this group.
      chownSync(path, 0, 65_532);
      chmodSync(path, 0o440);
    }
  }
}

const skipRun = skip || needsOwnRedis.skip || withoutOwnServers() || (await withoutRunc());

test('every container runs with the secrets of the guide, a read-only root and its probes', {
  skip: skipRun,
}, async (t) => {
  const bundle = openBundle({ after });
  const server = await startPostgres(t);
  const superuser = await connectTo(t, server.url());
  const [owner, others] = blocksOf(guide).filter(({ language }) => language === 'sql');
  for (const line of owner!.text.split('\n')) await superuser.query(line);
  const urlOf = (user: string) => server.url('network').replace('postgres@', `${user}:PASSWORD@`);
  const logins = ['serve', 'admin', 'feed', 'retention'].map((name) => [name, urlOf(name)]);
  const folder = temporaryFolder(t);
  const redis = (await startRedis(t)).url;
  createSecrets(folder, { ...Object.fromEntries(logins), owner: urlOf('network_owner'), redis });

  const begin = ({ spec }: Resource, container: Resource) => {
    const [{ mountPath }] = container.volumeMounts;
    const files = { [mountPath]: join(folder, spec.volumes[0].secret.secretName) };
    const variables = variablesOf(container);
    // Eight workers take more memory than a test should.
    if ('WORKERS' in variables && !isLongRun) variables.WORKERS = '2';
    return startPod(t, bundle, { words: container.args, variables, files }, newAddress());
  };
  const ends = async (pod: Resource) => {
    for (const container of containersOf(pod)) {
      const { status, stderr } = await begin(pod, container).finished;
      assert.equal(status, 0, stderr);
    }
  };
  const ready = async (pod: Resource) => {
    const [{ ports, startupProbe, ...container }] = pod.spec.containers;
    const portOf = (wanted: string) => ports.find(({ name }: Resource) => name === wanted).containerPort;
    const running = begin(pod, container);
    const { periodSeconds, failureThreshold } = startupProbe;
    const passes = (limitMs: number, { httpGet: { port, path } }: Resource) =>
      running.answers(limitMs, portOf(port), path);
    await passes(periodSeconds * failureThreshold * 1_000, startupProbe);
    for (const probe of [container.livenessProbe, container.readinessProbe]) await passes(20_000, probe);
    const get = (port: string, path: string) => fetch(running.urlOf(portOf(port), path));
    return { ...running, get };
  };
  const component = (resources: readonly Resource[], name: string) =>
    podsOf(resources).find((pod) => componentOf(pod) === name);
  const serves = async (resources: readonly Resource[]) => {
    const running = await ready(component(resources, 'serve'));
    const { servers }: Resource = await (await running.get('http', '/network/v1/openapi.json')).json();
    assert.equal(servers[0].url, 'https://partners.example/network/v1');
    const doctor = running.exec('partner-network', 'doctor');
    assert.equal(doctor.status, 0, doctor.stdout);
    assert.match(running.exec('node', '-e', 'fs.writeFileSync("/tmp/x", "")').stderr, /EROFS/);
    return running;
  };

  assert.deepEqual(podsOf(small).map(componentOf).toSorted(), ['admin', 'feed', 'migrate', 'prune', 'serve']);
  await ends(component(small, 'migrate'));
  await superuser.query(others!.text);
  // Alone: `doctor` refuses a second instance without Redis.
  const one = await serves(small);
  const [two, admin, feed] = await Promise.all([
    serves(many),
    ready(component(small, 'admin')),
    ready(component(small, 'feed')),
    ends(component(small, 'prune')),
  ]);

  assert.equal((await admin.get('http', '/console')).status, 200);
  const created = admin.exec('partner-network', 'partners', 'create', '--name', 'Acme Pay');
  assert.equal(created.status, 0, created.stderr);
  const line = { id: 'BAL_1', customer_id: 'CUSTOMER_1', type: 'CHECKING', currency: 'USD', amount: 4711 };
  feed.stdin.write(`${JSON.stringify(line)}\n`);
  const metrics = async () => (await feed.get('operations', '/metrics')).text();
  await until(20_000, async () => /outcome="written"\} 1$/m.test(await metrics()));

  // SIGINT skips the drain delay.
  const all = [one, two, admin, feed];
  for (const running of all) process.kill(await running.pid(), isLongRun ? 'SIGTERM' : 'SIGINT');
  for (const running of all) assert.equal((await running.finished).status, 0);
});
