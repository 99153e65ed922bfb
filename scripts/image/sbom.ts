/** What is in the image, as a CycloneDX document, and the shared libraries of this machine among it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Component, componentAt, type Sbom } from '../packages/sbom.ts';

type SharedLibrary = ReturnType<typeof libraryAt>;

/** Node lists what the loader has loaded into it, at the paths where the loader looks for it. */
export function sharedLibrariesOf(node: string): SharedLibrary[] {
  // Without this, a report looks up the names of other machines.
  const report = 'process.report.excludeNetwork = true, process.report.getReport()';
  const words = ['--print', `JSON.stringify((${report}).sharedObjects)`];
  const loaded: string[] = JSON.parse(execFileSync(node, words, { env: {}, encoding: 'utf8' }));
  // The kernel's own object has no file.
  const paths = loaded.filter((path) => path.startsWith('/')).toSorted();
  return paths.map(libraryAt);
}

/** Where it comes from, if this machine is a Debian, whose lists may name a file of /lib in /usr/lib. */
function libraryAt(path: string) {
  const query = (...words: string[]) => spawnSync('dpkg-query', words, { encoding: 'utf8' }).stdout ?? '';
  const [owner = ''] = query('--search', path, `/usr${path}`).split(': ');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders.
  const shown = owner && query('--show', '--showformat=${Package} ${Version} ${Architecture}', owner);
  const [name = '', version = '', architecture = ''] = shown.split(' ');
  return { path, debian: { name, version, architecture } };
}

/** The libraries of GCC have an exception for programs that use them. The others are parts of glibc. */
function componentOf({ path, debian: { name, version, architecture } }: SharedLibrary): Component {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
  const isOfGcc = /lib(stdc\+\+|gcc_s|atomic)\./.test(path);
  return {
    'bom-ref': path,
    type: 'file',
    name: path,
    ...(name && { version, purl }),
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(readFileSync(path)).digest('hex') }],
    licenses: [{ expression: isOfGcc ? 'GPL-3.0-or-later WITH GCC-exception-3.1' : 'LGPL-2.1-or-later' }],
  };
}

export const nodePackage = `node-linux-${process.arch}`;

/** What is in the package, with Node for this processor and the shared libraries. */
export function imageSbom(inside: Sbom, timestamp: string, libraries: readonly SharedLibrary[]): Sbom {
  const node = componentAt(`node_modules/${nodePackage}`);
  const [product, ...others] = inside.dependencies;
  const { ref, dependsOn } = product!;
  return {
    ...inside,
    metadata: { timestamp, ...inside.metadata },
    components: [...inside.components, node, ...libraries.map(componentOf)],
    dependencies: [
      { ref, dependsOn: [...dependsOn, node['bom-ref']] },
      ...others,
      { ref: node['bom-ref'], dependsOn: libraries.map(({ path }) => path) },
    ],
  };
}
