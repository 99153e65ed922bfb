// Plain JavaScript that any Node runs: older versions cannot read the TypeScript behind it.
if (Number.parseInt(process.versions.node, 10) < 24) {
  const remedy =
    process.platform === 'linux'
      ? 'run "npm ci", which installs Node 24, and start through npm or npx'
      : 'install Node 24';
  console.error(`Partner Network needs Node 24 and this is Node ${process.versions.node}: ${remedy}.`);
  process.exit(1);
}
