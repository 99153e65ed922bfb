/** Writes an image in the OCI layout: https://github.com/opencontainers/image-spec. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Config } from './config.ts';
import { type Entry, writeTar } from './tar.ts';

const compress = promisify(gzip);

export interface Layer {
  /** What is in it, for `docker history`. */
  readonly about: string;
  readonly entries: readonly Entry[];
}

export interface Image {
  readonly architecture: string;
  /** RFC 3339. */
  readonly created: string;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  /** How it runs, without labels. */
  readonly config: Config;
  readonly layers: readonly Layer[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const digestOf = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`;
const mediaType = (name: string) => `application/vnd.oci.image.${name}`;

/** Resolves to the digest of the manifest, which names everything else. */
export async function writeLayout(folder: string, image: Image): Promise<string> {
  const { architecture, created, tag, labels, config, layers } = image;
  const blobs = join(folder, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const writeBlob = (type: string, content: Buffer): Descriptor => {
    const digest = digestOf(content);
    writeFileSync(join(blobs, digest.replace('sha256:', '')), content);
    return { mediaType: mediaType(type), digest, size: content.length };
  };
  const writeJson = (type: string, value: object) => writeBlob(type, Buffer.from(JSON.stringify(value)));

  const written = await Promise.all(
    layers.map(async ({ about, entries }) => {
      const content = writeTar(entries);
      const diffId = digestOf(content);
      return { about, diffId, layer: writeBlob('layer.v1.tar+gzip', await compress(content)) };
    }),
  );
  const platform = { architecture, os: 'linux' };
  const configuration = writeJson('config.v1+json', {
    created,
    ...platform,
    config: { ...config, Labels: labels },
    rootfs: { type: 'layers', diff_ids: written.map(({ diffId }) => diffId) },
    history: written.map(({ about }) => ({ created, comment: about })),
  });
  const manifest = writeJson('manifest.v1+json', {
    schemaVersion: 2,
    mediaType: mediaType('manifest.v1+json'),
    config: configuration,
    layers: written.map(({ layer }) => layer),
    annotations: labels,
  });
  const annotations = { 'org.opencontainers.image.ref.name': tag };
  const index = {
    schemaVersion: 2,
    mediaType: mediaType('index.v1+json'),
    manifests: [{ ...manifest, platform, annotations }],
  };
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return manifest.digest;
}
