/** Every flag, variable, code, metric and log line that a page names exists in the product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '../../checks/run.ts';
import { metricCatalogue } from '../../packages/common/src/observability/catalogue.ts';
import { describedCommands } from '../../packages/partner-network/src/main.ts';
import { files, pagesFor, proseOf, read, sources } from '../sources.ts';

const pages = ['README.md', ...pagesFor('partners'), ...pagesFor('operators')];
const settingsPage = read('docs/reference/operators/settings.md');
const product = sources.filter((file) => /^packages\/\w+\/(src|bin)\//.test(file));

/** The words of all pages that match, each with the first page that has it. */
function named(pattern: RegExp, textOf: (page: string) => string = read): Map<string, string> {
  const found = pages.flatMap((page) =>
    [...textOf(page).matchAll(pattern)].map(([, word = '']) => [word, page] as const),
  );
  return new Map(found.toReversed());
}

/** Code within a line of text. Tests run the code blocks. */
const spansOf = (page: string) => (proseOf(page).match(/`[^`]+`/g) ?? []).join('\n');

/** Flags of npm, Node, podman, systemd, Prometheus, Prism, the example senders and our other programs. */
const othersFlags =
  `busy delay engine errors from-file give-up-after gzip health-cmd health-interval init max-semi-space-size
  memory no-healthcheck no-parallel-scavenge no-retries now only order release rounds rows seconds synchronous
  ulimit url web.listen-address`.split(/\s+/);

test('every flag that a page names exists', async () => {
  const commands = (await describedCommands()).flatMap((group) => group.commands);
  const ours = new Set([
    'help',
    'version',
    'no-color',
    ...commands.flatMap(({ command }) => Object.keys(command.options)),
  ]);
  const flags = [...named(/(?<!\w)--([a-z][a-z.-]*[a-z])/g, spansOf).keys()];
  assert.deepEqual(flags.filter((flag) => !ours.has(flag)).toSorted(), othersFlags);
});

/** Variables of shell commands and of psql on a page, and of the shipped systemd units. */
const shellVariables =
  'ADMIN_KEY API_KEY FEED_FLAGS INGEST_KEY LEAKED_KEY LC_ALL ON_ERROR_STOP OWNER_URL'.split(' ');

test('every variable and code that a page names exists', () => {
  const known = new Set([
    ...[...product, 'docs/how-to/operators/haproxy.cfg'].flatMap(
      (file) => read(file).match(/\b[A-Z][A-Z0-9_]+\b/g) ?? [],
    ),
    ...[...settingsPage.matchAll(/`(\w+)`/g)].map(([, variable]) => variable),
    ...shellVariables,
  ]);
  const isExampleId = (word: string) => /^(PARTNER|CUSTOMER|GRANT|BRAND|KEY|BAL)_[A-Z0-9]+$/.test(word);
  const words = [...named(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b/g)];
  assert.deepEqual(
    words.filter(([word]) => !known.has(word) && !isExampleId(word)),
    [],
  );
});

test('every variable that the product reads is on the page of settings', () => {
  const reads = product.flatMap((file) =>
    [...read(file).matchAll(/process\.env(?:\.(\w+)|\[)/g)].map(([, name]) => [file, name] as const),
  );
  for (const [, name] of reads) assert.ok(name === undefined || settingsPage.includes(`\`${name}\``), name);
  // These read variables whose names are in a constant. The page has them among the other variables.
  const computed = reads.filter(([, name]) => name === undefined).map(([file]) => file);
  assert.deepEqual(
    [...new Set(computed)],
    ['packages/common/src/process.ts', 'packages/service/src/tracing/collector.ts'],
  );
});

test('every metric that a page names exists', () => {
  const unknown = [...named(/\b((?:partner_network|process)_[a-z_]+)\b/g)].filter(
    ([name]) => !Object.hasOwn(metricCatalogue, name.replace(/_(bucket|sum|count)$/, '')),
  );
  assert.deepEqual(unknown, []);
});

test('every log line that a page quotes is written by the product', () => {
  const inOneLine = (page: string) => read(page).replaceAll(/\s+/g, ' ');
  const quoted = [...named(/\blines? (?:that begins )?`([^`]+)`/g, inOneLine).keys()];
  const written = product.map(read).join('\n').replaceAll('$'.concat('{this.#what}'), 'receipts');
  assert.ok(quoted.length > 4, quoted.join());
  const unknown = quoted.filter((text) => !["'", '`'].some((quote) => written.includes(quote + text)));
  assert.deepEqual(unknown, []);
});

test('every npm command and path that a page for contributors names exists', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const contributing = [
    'CONTRIBUTING.md',
    ...files.filter((file) => /^docs\/.*contributors\/.*\.md$/.test(file)),
  ];
  for (const page of contributing) {
    const commands = [...read(page).matchAll(/npm run (?:--silent )?([\w:]+)(?:\s--\s([\w-]+))?/g)];
    const paths = [
      ...read(page).matchAll(/\b(?:packages|docs|test|scripts|checks)\/[\w/.-]+\.(?:ts|js|md)\b/g),
    ];
    for (const [command, script = '', name = ''] of commands) {
      assert.ok(script in scripts, `${page}: ${command}`);
      if (script in runs && name !== '') {
        assert.ok(name in runs[script as keyof typeof runs], `${page}: ${command}`);
      }
    }
    for (const [path] of paths) assert.ok(files.includes(path), `${page}: ${path}`);
    // Short for packages/PACKAGE/src/…
    for (const [, name, rest = ''] of read(page).matchAll(/(?<![\w/])([a-z]+)\/([\w/-]+\.ts)\b/g)) {
      const path = `packages/${name}/${/^(src|test)\//.test(rest) ? '' : 'src/'}${rest}`;
      const isPackage = files.includes(`packages/${name}/package.json`);
      assert.ok(!isPackage || files.includes(path), `${page}: ${name}/${rest}`);
    }
  }
});
