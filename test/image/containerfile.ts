import assert from 'node:assert/strict';
import { read } from '../sources.ts';

export const containerfile = 'deploy/Containerfile';

/** The words of an instruction in the stages of the image. */
export function instruction(name: string): string {
  const [, stages = ''] = read(containerfile)
    .replaceAll(/\\\n\s*/g, '')
    .split('FROM scratch');
  return new RegExp(`^${name} (.*)$`, 'm').exec(stages)?.[1] ?? assert.fail(`no ${name}`);
}
