#!/usr/bin/env node
import './require-node-24.js';

// Imported only now: an older Node would trip over what it does not have before it could say so.
const { enableCompileCache } = await import('node:module');

// Compiled code is kept for the next start, among the dependencies and not in a folder that others can write.
// Threads have it from the variable alone: one that must strip types itself takes 130 ms and 40 MB for that.
process.env.NODE_COMPILE_CACHE ??= `${import.meta.dirname}/../../../node_modules/.cache/partner-network`;
enableCompileCache(process.env.NODE_COMPILE_CACHE);

const { main } = await import('../src/main.ts');
process.exitCode = await main(process.argv.slice(2), process.env);
