#!/usr/bin/env node
import './require-node-24.js';

const { main } = await import('../src/main.ts');
process.exitCode = await main(process.argv.slice(2), process.env);
