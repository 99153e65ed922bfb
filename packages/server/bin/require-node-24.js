// Plain JavaScript that any Node runs: older ones cannot read the TypeScript behind it.
if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error(
    `Partner Network needs Node 24 and this is Node ${process.versions.node}: run "npm ci" without --ignore-scripts, which brings Node 24 along, and start through npm or npx.`,
  );
  process.exit(1);
}
