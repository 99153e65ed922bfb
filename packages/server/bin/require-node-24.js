// Plain JavaScript that any Node runs: older versions cannot read the TypeScript behind it.
if (Number.parseInt(process.versions.node, 10) < 24) {
  const remedy =
    process.platform === 'linux'
      ? 'Run "npm ci", which installs Node 24, and start it with npm or npx.'
      : 'Install Node 24.';
  console.error(`Partner Network needs Node 24, but this is Node ${process.versions.node}. ${remedy}`);
  process.exit(1);
}
