/**
 * What runs in production as a CycloneDX document: npm's own SBOM without development packages.
 * `npm sbom --omit dev` would leave out packages that a development tool happens to share, half of the
 * Postgres driver among them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

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
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));

/** Packages that only development needs, as the SBOM refers to them. */
function developmentPackages(): Set<string> {
  const { packages } = readJson('package-lock.json');
  const dev = new Set<string>();
  const production = new Set<string>();
  for (const [place, locked] of Object.entries<{ version: string; dev?: boolean }>(packages)) {
    const ref = `${place.split('node_modules/').at(-1)}@${locked.version}`;
    (locked.dev ? dev : production).add(ref);
  }
  return dev.difference(production);
}

export function productionSbom(): Sbom {
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const whole: Sbom = JSON.parse(
    execFileSync('npm', words, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const excluded = developmentPackages();
  // npm names our packages after their folders.
  const named = (part: Component) => ({
    ...part,
    name: part['bom-ref'].slice(0, part['bom-ref'].lastIndexOf('@')),
  });
  const dependencies = whole.dependencies
    .filter(({ ref }) => !excluded.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => !excluded.has(other)) }));
  return {
    ...whole,
    metadata: { ...whole.metadata, component: named(whole.metadata.component) },
    components: whole.components.filter((part) => !excluded.has(part['bom-ref'])).map(named),
    dependencies,
  };
}

/** `npm run --silent sbom`. */
if (import.meta.main) {
  try {
    process.stdout.write(`${JSON.stringify(productionSbom(), null, 2)}\n`);
  } catch (error) {
    process.stderr.write(`npm cannot list the packages: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
