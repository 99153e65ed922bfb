#!/usr/bin/env node
import './require-node-24.js';

// Imported only now: an older Node would trip over what it does not have before it could say so.
const { enableCompileCache } = await import('node:module');

// Compiled code is kept for the next start, among the dependencies and not in a folder that others can write.
enableCompileCache(`${import.meta.dirname}/../../../node_modules/.cache/partner-network`);

const { main } = await import('../src/main.ts');
process.exitCode = await main(process.argv.slice(2), process.env);
