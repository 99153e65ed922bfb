/** The packages of others that are in our package: as a CycloneDX document, and with their licenses. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly licenses: readonly (
    | { readonly license: { readonly id: string } }
    | { readonly expression: string }
  )[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

export interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly version: number;
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Locked {
  readonly version: string;
  readonly license: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
const { packages }: { packages: Readonly<Record<string, Locked>> } = readJson(root, 'package-lock.json');
const product = 'packages/partner-network';

/** A package as the lockfile describes it. Fails if another version is installed. */
export function componentAt(place: string, folder = root): Component {
  const { version, license, integrity } = packages[place]!;
  const { name, version: installed } = readJson(folder, place, 'package.json');
  if (installed !== version) {
    throw new Error(`${place} is not installed as package-lock.json says. Run "npm ci".`);
  }
  const digest = integrity && Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    'bom-ref': `${name}@${version}`,
    type: place === product ? 'application' : 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(digest && { hashes: [{ alg: 'SHA-512', content: digest }] }),
    licenses: [{ license: { id: license } }],
  };
}

/**
 * The SBOM of the package, which contains the packages of these folders, such as `node_modules/pg`. It has no
 * time and no serial number, so that the same sources give the same document.
 */
export function sbomOf(places: readonly string[]): Sbom {
  const component = componentAt(product);
  const parts = new Map(places.map((place) => [place, componentAt(place)]));
  const dependencies = [...new Map([[product, component], ...parts])].map(([place, { 'bom-ref': ref }]) => ({
    ref,
    dependsOn: Object.keys(packages[place]!.dependencies ?? {}).flatMap(
      (name) =>
        (parts.get(`${place}/node_modules/${name}`) ?? parts.get(`node_modules/${name}`))?.['bom-ref'] ?? [],
    ),
  }));
  const components = [...parts.values()];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component },
    components,
    dependencies,
  };
}

/** The license of each package, as it wants to be repeated. */
export function noticesOf(places: readonly string[]): string {
  const notices = places.map((place) => `${componentAt(place)['bom-ref']}\n\n${licenseIn(place)}\n`);
  const about = '# The program contains these packages of others.\n';
  return [about, ...notices].join(`\n${'-'.repeat(80)}\n\n`);
}

/** The files for it, or else the end of the README. */
function licenseIn(place: string): string {
  const folder = join(root, place);
  const texts = (names: RegExp) =>
    readdirSync(folder)
      .filter((name) => names.test(name))
      .toSorted()
      .map((name) => readFileSync(join(folder, name), 'utf8').trim());
  const files = texts(/^(licen[sc]e|copying|notice)/i);
  if (files.length > 0) return files.join('\n\n');
  const [, text] = /^#+ licen[sc]e\s(.*)/ims.exec(texts(/^readme/i).join('\n')) ?? [];
  if (text === undefined || !/copyright/i.test(text)) throw new Error(`${place} has no text of its license.`);
  return text.trim();
}
