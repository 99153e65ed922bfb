/** What is in the image, as a CycloneDX document, and the shared libraries of this machine among it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Component, productionSbom, type Sbom } from '../packages/sbom.ts';

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

/**
 * What runs in production, with Node for one processor, and the shared libraries. It has no serial number and
 * the time of the sources, so that the same sources give the same document.
 */
export function imageSbom(created: string, nodePackage: string, libraries: readonly SharedLibrary[]): Sbom {
  const { bomFormat, specVersion, components, dependencies } = productionSbom();
  const product = components.find(({ name }) => name === 'partner-network')!;
  const node = components.find(({ name }) => name === nodePackage)!;
  const others = components.filter((part) => part !== product && !part.name.startsWith('node-linux-'));
  const inside = [...others, node, ...libraries.map(componentOf)];
  const refs = new Set([product, ...inside].map((part) => part['bom-ref']));
  const more: Readonly<Record<string, readonly string[]>> = {
    [product['bom-ref']]: [node['bom-ref']],
    [node['bom-ref']]: libraries.map(({ path }) => path),
  };
  return {
    bomFormat,
    specVersion,
    version: 1,
    metadata: { timestamp: created, component: { ...product, type: 'application' } },
    components: inside,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: [...dependsOn, ...(more[ref] ?? [])] })),
  };
}
