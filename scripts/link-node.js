/**
 * Runs after `npm ci`, on any Node. npm 10 installs Node 24 for this machine's processor, but when it drops
 * the package for the other processor it also deletes node_modules/.bin/node. This restores the link.
 */
import { existsSync, symlinkSync } from 'node:fs';

const link = new URL('../node_modules/.bin/node', import.meta.url);
const runtime = `node-${process.platform}-${process.arch}/bin/node`;
if (!existsSync(link) && existsSync(new URL(`../node_modules/${runtime}`, import.meta.url))) {
  symlinkSync(`../${runtime}`, link);
}
