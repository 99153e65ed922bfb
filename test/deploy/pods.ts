/** Containers as manifests describe them, run from the image's files with runc. */
import { randomInt } from 'node:crypto';
import { type Lifetime, until } from '../../packages/testkit/fixtures/lifetime.ts';
import { type Bundle, bind, startContainer } from '../image/runc.ts';

interface Described {
  readonly words: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Files and folders of this machine, by their path in the container. */
  readonly files: Readonly<Record<string, string>>;
}

/** Every pod has an address of its own, also on this machine. So its ports are those of the manifest. */
export const newAddress = () => `127.${[0, 0, 0].map(() => randomInt(1, 255)).join('.')}`;

/** Starts a container that listens on `address` instead of on every address. */
export function startPod(t: Lifetime, bundle: Bundle, described: Described, address: string) {
  const own = (text: string) => text.replace('0.0.0.0', address);
  // HOST is a variable of the image.
  const variables = { HOST: '0.0.0.0', ...described.variables };
  const adapted = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, own(value)]));
  const mounts = Object.entries(described.files).map(([inside, path]) => bind(path, inside, 'ro'));
  const running = startContainer(t, bundle, described.words.map(own), adapted, mounts);
  const failed = running.ended.then((status) => {
    throw new Error(`${described.words} ended with ${status}: ${running.texts().stderr}`);
  });
  failed.catch(() => {});
  const urlOf = (port: number, path: string) => `http://${address}:${port}${path}`;
  return {
    ...running,
    urlOf,
    /** Resolves when a path answers 200. */
    answers: (limitMs: number, port: number, path: string) => {
      const ask = () => fetch(urlOf(port, path)).catch(() => undefined);
      return Promise.race([failed, until(limitMs, async () => (await ask())?.status === 200)]);
    },
  };
}
