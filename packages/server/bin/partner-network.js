#!/usr/bin/env node
import './require-node-24.js';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Compiled code is kept for the next start, among the dependencies and not in a folder that others can write.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/partner-network', import.meta.url)));

const { main } = await import('../src/main.ts');
process.exitCode = await main(process.argv.slice(2), process.env);
