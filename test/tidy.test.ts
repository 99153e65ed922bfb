/** Rules for all files of the repository. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { slugOf } from '../packages/service/src/site/markdown.ts';
import { files, proseOf, read, root, sources } from './sources.ts';

/** Files that people write. */
const written = sources.filter((file) => !/\/schema\.sql$|^packages\/client\/types\//.test(file));

test('no source file is longer than 300 lines, and no line longer than 110 columns', () => {
  const overlong = written.flatMap((file) => {
    const lines = read(file).trimEnd().split('\n');
    // A line with nothing but a string may be longer, and the line that names the interpreter.
    const wide = lines.flatMap((line, index) =>
      line.length > 110 && !/^\s*(\w+: )?['"`].*['"`],?$|^#!/.test(line) ? [`${file}:${index + 1}`] : [],
    );
    return lines.length > 300 ? [file, ...wide] : wide;
  });
  assert.deepEqual(overlong, []);
});

test('a test file has the name of the thing that it tests, in one to three words', () => {
  const tests = sources.filter((file) => file.endsWith('.test.ts'));
  const names = tests.filter((file) => !/\/[a-z][a-z0-9]*(-[a-z0-9]+){0,2}\.test\.ts$/.test(file));
  assert.deepEqual(names, []);
});

test('no line of prose in a document is longer than 100 columns', () => {
  const wide = files
    .filter((name) => name.endsWith('.md'))
    .flatMap((file) =>
      // A table row and a heading are one line, and so is a link that is longer than a line.
      proseOf(file)
        .split('\n')
        .filter((line) => line.length > 100 && !/^\s*\||^#|^\s*\S*\]\(\S*$/.test(line))
        .map((line) => `${file}: ${line.slice(0, 60)}`),
    );
  assert.deepEqual(wide, []);
});

/** The anchors of a document's sections. */
function sectionsOf(file: string): string[] {
  return [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => slugOf(title));
}

test('every link in the documents leads to an existing file and section', () => {
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    for (const [link, target, section] of proseOf(file).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)) {
      const path = target === '' ? file : join(dirname(file), target!);
      assert.ok(existsSync(join(root, path)), `${file} links to ${target}`);
      assert.ok(section === '' || sectionsOf(path).includes(section!), `${file} has the link [${link}`);
    }
  }
});

test('no command of a document asks a public registry for our packages', () => {
  const installs =
    /\b(?:npm (?:i|install|add|exec)|npx|pnpm \S+|yarn \S+|pip3? install|pipx \S+|uv \S+)\b([^`\n|]*)/g;
  const ours = /^@?partner[-_]network(?:[/@-]|$)/;
  for (const file of files.filter((name) => name.endsWith('.md'))) {
    for (const [command, words = ''] of read(file).matchAll(installs)) {
      const named = words
        .trim()
        .split(/\s+/)
        .filter((word) => ours.test(word));
      // npx runs what is installed in the folder. Pages for partners say where that is.
      if (/^npx partner-network( |$)/.test(command)) named.shift();
      assert.deepEqual(named, [], `${file}: ${command}`);
    }
    const isForPartners = /^docs\/\w+(-\w+)?\/partners\/|^(clients|packages\/client)\//.test(file);
    if (!isForPartners || !read(file).includes('npx partner-network ')) continue;
    assert.match(read(file), /command-line\.md#install\)|^## Install$/m, file);
  }
});

test('every log of the service is made in log.ts, which removes secrets from driver errors', () => {
  const loggers = /import (?!type\b)[^;]*from 'pino'|import\('pino'\)/;
  const makers = sources.filter((file) => /^packages\/[\w-]+\/src\//.test(file) && loggers.test(read(file)));
  assert.deepEqual(makers, ['packages/common/src/observability/log.ts']);
});

test('no test makes its own log, so that all test logs are searched for secrets', () => {
  const watch = 'packages/testkit/watch/logs.ts';
  const loggers = /from 'pino'|createLog\b/;
  const ours = sources.filter((file) => /(^|\/)(test|testkit)\/.*\.ts$/.test(file));
  const tests = ours.filter((file) => loggers.test(read(file)));
  // log-process.test.ts tests how lines are written, and logs nothing of a service.
  assert.deepEqual(tests, [
    'packages/common/test/observability/log-process.test.ts',
    watch,
    'test/tidy.test.ts',
  ]);
});
