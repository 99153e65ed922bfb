/**
 * Prints what runs in production as a CycloneDX document. It is npm's own, without what is for development:
 * with --omit dev, npm would also leave out what a tool of ours happens to need, too, half of the Postgres
 * driver among it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { print, runProgram, say } from '../bench/lib/program.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}

interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** As a reference of the document names them. Node stands among the tools, but is what runs all else. */
function forDevelopment(): Set<string> {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
  const names = { dev: new Set<string>(), run: new Set<string>() };
  for (const [place, { version, dev }] of Object.entries<{ version: string; dev?: boolean }>(packages)) {
    const name = place.split('node_modules/').at(-1);
    names[dev && name !== 'node' ? 'dev' : 'run'].add(`${name}@${version}`);
  }
  return names.dev.difference(names.run);
}

export function productionSbom(): Sbom {
  const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  const whole: Sbom = JSON.parse(
    execFileSync('npm', words, { ...options, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const left = forDevelopment();
  const { component } = whole.metadata;
  // npm calls it by the folder that it happens to be in.
  const named = { ...component, name: component['bom-ref'].slice(0, component['bom-ref'].lastIndexOf('@')) };
  return {
    ...whole,
    metadata: { ...whole.metadata, component: named },
    components: whole.components.filter((part) => !left.has(part['bom-ref'])),
    dependencies: whole.dependencies
      .filter(({ ref }) => !left.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => !left.has(other)) })),
  };
}

const help = `Usage: npm run --silent sbom

Prints a CycloneDX document of all packages that run in production, by package-lock.json.

  --help   this text`;

async function printSbom(): Promise<boolean> {
  try {
    print(JSON.stringify(productionSbom(), null, 2));
    return true;
  } catch (error) {
    say(`npm does not tell what there is: ${(error as Error).message}`);
    return false;
  }
}

if (import.meta.main) await runProgram({ help, options: {}, readFlags: () => ({}), run: printSbom });
