// Plain JavaScript that any Node runs: older versions cannot read the program behind it.
import { existsSync } from 'node:fs';

if (Number.parseInt(process.versions.node, 10) < 24) {
  const isCheckout = existsSync(new URL('../src/main.ts', import.meta.url));
  const remedy =
    isCheckout && process.platform === 'linux'
      ? 'Run "npm ci", which installs Node 24, and start it with npm or npx.'
      : 'Install Node 24 or later.';
  console.error(`Partner Network needs Node 24, but this is Node ${process.versions.node}. ${remedy}`);
  process.exit(1);
}
