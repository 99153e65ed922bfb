// Plain JavaScript that any Node runs: older versions cannot read the program behind it.
import { existsSync } from 'node:fs';

if (Number.parseInt(process.versions.node, 10) < 24) {
  const isCheckout = existsSync(new URL('../src/main.ts', import.meta.url));
  const onLinux = isCheckout
    ? 'Run "npm ci", which installs Node 24, and start it with npm or npx.'
    : `Install Node 24 or later. For npx, "npm install node-linux-${process.arch}@24" is enough.`;
  const remedy = process.platform === 'linux' ? onLinux : 'Install Node 24 or later.';
  console.error(`Partner Network needs Node 24, but this is Node ${process.versions.node}. ${remedy}`);
  process.exit(1);
}
