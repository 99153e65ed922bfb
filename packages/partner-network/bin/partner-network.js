#!/usr/bin/env -S node --max-semi-space-size=4
// The flag saves memory: without it, V8 lets the space for new objects grow to 64 MiB. deploy/Containerfile
// repeats it, which test/image/containerfile.test.ts compares.

// Process 1, as in a container, gets only the signals that it listens for. So it listens before anything is
// imported, until a command has its own listener. Any other process is ended by the system.
if (process.pid === 1) {
  for (const [signal, status] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.on(signal, () => process.listenerCount(signal) > 1 || process.exit(status));
  }
}

// Without a listener, this signal opens Node's debugger, to which every user of the machine can connect.
process.on('SIGUSR1', () => {});

// Node prefers FORCE_COLOR to NO_COLOR and to a dumb terminal, and prints a warning about it.
if (process.env.NO_COLOR || process.env.TERM === 'dumb') delete process.env.FORCE_COLOR;

// Imported in this order: an older Node must report its version before it imports what it does not have.
await import('./require-node-24.js');
const { enableCompileCache } = await import('node:module');
const { existsSync, mkdirSync, readFileSync, statSync } = await import('node:fs');

// To load the program would take as long as Node itself.
if (process.argv[2] === '--version') {
  console.log(JSON.parse(readFileSync(`${import.meta.dirname}/../package.json`, 'utf8')).version);
  process.exit();
}

// The sources exist in a checkout only. The package has them as one file.
const isCheckout = existsSync(new URL('../src/main.ts', import.meta.url));
const main = new URL(isCheckout ? '../src/main.ts' : '../dist/main.js', import.meta.url);

// Compiled code is kept for the next start. Threads find it by the variable only. A thread that has to strip
// types itself takes 40 ms and 19 MB more.
const cache = process.env.NODE_COMPILE_CACHE || cacheFolder();
if (cache) {
  process.env.NODE_COMPILE_CACHE = cache;
  enableCompileCache(cache);
}

/**
 * Among the dependencies, or in our package if only this user can write it: a cache contains code. Made here,
 * because Node would make a folder that a umask of 0 opens to everyone.
 */
function cacheFolder() {
  if (isCheckout) return `${import.meta.dirname}/../../../node_modules/.cache/partner-network`;
  const folder = `${import.meta.dirname}/..`;
  const isOurs = ({ uid, mode }) => uid === process.geteuid?.() && !(mode & 0o022);
  if (!isOurs(statSync(folder))) return undefined;
  const cache = `${folder}/.cache`;
  try {
    mkdirSync(cache, { mode: 0o700, recursive: true });
    return isOurs(statSync(cache)) ? cache : undefined;
  } catch {
    return undefined;
  }
}

const program = await import(main.href);
process.exitCode = await program.main(process.argv.slice(2), process.env);
