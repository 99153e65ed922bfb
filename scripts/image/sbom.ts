/** What is in the image, as a CycloneDX document. */
import { createHash } from 'node:crypto';
import { type Component, productionSbom, type Sbom } from '../sbom.ts';
import type { SharedLibrary } from './base.ts';

type ImageSbom = Pick<Sbom, 'bomFormat' | 'specVersion' | 'components' | 'dependencies'>;

/**
 * What runs in production, with Node for one processor, and the shared libraries. It has no serial number and
 * the time of the sources, so that the same sources give the same document.
 */
export function imageSbom(
  created: string,
  nodePackage: string,
  libraries: readonly SharedLibrary[],
): ImageSbom {
  const { bomFormat, specVersion, components, dependencies } = productionSbom();
  const product = components.find(({ name }) => name === 'partner-network')!;
  const runtime = components.find(({ name }) => name === nodePackage)!;
  const inside = [
    ...components.filter(({ name }) => name !== product.name && !name.startsWith('node-linux-')),
    runtime,
    ...libraries.map(componentOf),
  ];
  const refs = new Set([product, ...inside].map((part) => part['bom-ref']));
  const uses = dependencies.filter(({ ref }) => refs.has(ref));
  const ownUses = uses.find(({ ref }) => ref === product['bom-ref'])!;
  const nodeUses = libraries.map((library) => componentOf(library)['bom-ref']);
  return {
    bomFormat,
    specVersion,
    version: 1,
    metadata: { timestamp: created, component: { ...product, type: 'application' } },
    components: inside,
    dependencies: [
      ...uses.filter((use) => use !== ownUses && use.ref !== runtime['bom-ref']),
      { ref: ownUses.ref, dependsOn: [...ownUses.dependsOn, runtime['bom-ref']] },
      { ref: runtime['bom-ref'], dependsOn: nodeUses },
    ],
  } as ImageSbom;
}

/** All licenses as one SPDX expression. */
export function licensesIn({ components }: ImageSbom): string {
  const all = components.flatMap(({ licenses }) => licenses);
  const expressions = all.map((item) => ('license' in item ? item.license.id : item.expression));
  return [...new Set(expressions)].toSorted().join(' AND ');
}

function componentOf({ path, content, debian }: SharedLibrary): Component {
  const hashes = [{ alg: 'SHA-256', content: createHash('sha256').update(content).digest('hex') }];
  const origin = debian && {
    version: debian.version,
    purl: `pkg:deb/debian/${debian.name}@${encodeURIComponent(debian.version)}?arch=${debian.architecture}`,
  };
  return { 'bom-ref': path, type: 'file', name: path, ...origin, hashes, licenses: [licenseOf(path)] };
}

/** The libraries of GCC have an exception for programs that use them. The others are parts of glibc. */
function licenseOf(path: string): Component['licenses'][number] {
  const expression = /lib(stdc\+\+|gcc_s|atomic)\./.test(path)
    ? 'GPL-3.0-or-later WITH GCC-exception-3.1'
    : 'LGPL-2.1-or-later';
  return { expression };
}
