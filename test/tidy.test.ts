/** What keeps the house tidy without anybody having to remember it. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { slugOf } from '../packages/server/src/reference/guides.ts';
import { root } from './documents/clone.ts';
import { files, read, sources } from './sources.ts';

/** What a program wrote is as wide as it wrote it. */
const written = sources.filter((file) => !file.endsWith('/schema.sql'));

test('no source file is longer than 300 lines, and no line longer than 110 columns', () => {
  const overlong = written.flatMap((file) => {
    const lines = read(file).trimEnd().split('\n');
    // A text that cannot be broken may stand on a line of its own.
    const wide = lines.flatMap((line, index) =>
      line.length > 110 && !/^\s*(\w+: )?['"`].*['"`],?$/.test(line) ? [`${file}:${index + 1}`] : [],
    );
    return lines.length > 300 ? [file, ...wide] : wide;
  });
  assert.deepEqual(overlong, []);
});

/** A document without its blocks of code, in which a `#` begins no section and brackets are no link. */
const proseOf = (file: string) => read(file).replaceAll(/^```.*?^```$/gms, '');

/** The names by which the sections of a document are linked to. */
function sectionsOf(file: string): string[] {
  return [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slugOf(title));
}

test('every link of the documents leads to a file, and to a section that it has', () => {
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    for (const [link, target, section] of proseOf(file).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const path = target === '' ? file : join(dirname(file), target!);
      assert.ok(existsSync(join(root, path)), `${file} links to ${target}`);
      assert.ok(section === '' || sectionsOf(path).includes(section!), `${file} has the link [${link}`);
    }
  }
});

test('every log of the service is made in log.ts, which keeps back what errors of drivers hold', () => {
  const loggers = /import (?!type\b)[^;]*from 'pino'|import\('pino'\)/;
  const makers = sources.filter((file) => /^packages\/server\/src\//.test(file) && loggers.test(read(file)));
  assert.deepEqual(makers, ['packages/server/src/observability/log.ts']);
});

test('whatever a test logs is searched for secrets: no test makes a log of its own', () => {
  const watch = 'packages/testkit/watch/logs.ts';
  const loggers = /from 'pino'|createLog\b/;
  const ours = sources.filter((file) => /(^|\/)(test|testkit)\/.*\.ts$/.test(file));
  const tests = ours.filter((file) => loggers.test(read(file)));
  // The one beside it looks at how lines are written, and writes none of a service's.
  assert.deepEqual(tests, [
    'packages/server/test/observability/log-process.test.ts',
    watch,
    'test/tidy.test.ts',
  ]);
});
