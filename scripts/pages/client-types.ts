/**
 * The declarations of the client for JavaScript, in one file: what its modules declare, and at the end what
 * the package exports. The package has them unchanged.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

const imports = /^(?:import|export) (?:type )?(\{[^}]*\}) from '\.\/(.*)\.ts';\n/gm;

export function clientTypes(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-network-types-'));
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const words = ['--project', join(root, 'packages/client'), '--outDir', folder];
    execFileSync(process.execPath, [compiler, ...words], { stdio: 'inherit' });
    const modules = new Map<string, string>();
    const read = (name: string): string => {
      const text = readFileSync(join(folder, `${name}.d.ts`), 'utf8');
      for (const [, , imported] of text.matchAll(imports)) if (!modules.has(imported!)) read(imported!);
      modules.set(name, text.replaceAll(imports, '').replaceAll(/^export (?=\w)|^export \{\};\n/gm, ''));
      return text;
    };
    const exported = read('index').replaceAll(/ from '.*'/g, '');
    modules.delete('index');
    return `// Written by "npm run docs".\n${[...modules.values(), exported].join('')}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
