/** Plain English: words and sentences that are hard to read are found in everything that people read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue } from '@partner-network/contract/errors';
import { openApiDocument } from '@partner-network/contract/openapi/document';
import { importSentences } from '../packages/server/src/ingest/faults.ts';
import { helpTexts } from '../packages/server/src/main.ts';
import { files, read, sources } from './sources.ts';

/** Words and phrases that we do not use, and what to write instead. */
const avoided: readonly [pattern: RegExp, instead: string][] = [
  [/\bmend(s|ed|ing)?\b/i, 'fix, correct'],
  [/\breckon(s|ed|ing)?\b/i, 'calculate, count'],
  [/\banew\b/i, 'again'],
  [/\bin vain\b/i, 'without success'],
  [/\bwho(so)?ever\b/i, 'name the person: the client, the operator'],
  [/\b(is|are|was|were) none\b/i, 'does not exist'],
  [/\bif there is none\b/i, 'if it does not exist'],
  [/\bso many\b/i, 'the number'],
  [/\bas many as\b/i, 'the number of'],
  [/\bwill not do\b/i, 'does not work'],
  [/\btell(s|ing)? of\b|\bis told (of|at)\b/i, 'reports'],
  [/\bhold(s)? against\b/i, 'compares with'],
  [/\bcomes? to (its|an) end\b/i, 'finishes'],
  [/\bnow here, now there\b/i, 'on either'],
  [/\bas it must be\b/i, 'valid'],
  [/\bof (yours|ours|theirs)\b/i, 'your, our, their'],
  [/\bwho\b[^.;:]{1,40}\bgets\b/i, 'name the person'],
  [/\b(thereof|wherein|whereby|hence|thus|lest|albeit)\b/i, 'a plain word'],
];

/** Places where an avoided word is right. Each needs a reason. */
const allowed: readonly { readonly text: string; readonly reason: string }[] = [];

const longestSentence = 35;

function faultsIn(text: string): string[] {
  const plain = allowed.reduce((rest, { text: right }) => rest.replaceAll(right, ''), text);
  return avoided.flatMap(([pattern, instead]) => {
    const found = pattern.exec(plain)?.[0];
    return found === undefined ? [] : [`"${found}": write ${instead}`];
  });
}

/** The sentences of a text. A link counts by its label, and a code span as one word. */
function sentencesOf(text: string): string[] {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`]*`/g, 'code')
    .split(/(?<=[.!?:])\s+|\n\s*\n/);
}

function longIn(text: string): string[] {
  return sentencesOf(text)
    .filter((sentence) => sentence.split(/\s+/).length > longestSentence)
    .map((sentence) => `over ${longestSentence} words: "${sentence.slice(0, 60)}…"`);
}

/** The prose of a page: without code blocks, tables and HTML. A list item is a paragraph of its own. */
function proseOf(page: string): string {
  return page
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
    .replaceAll(/^\s*\|.*$/gm, '')
    .replaceAll(/^\s*([-*]|\d+\.) /gm, '\n\n')
    .replaceAll(/^#+ .*$/gm, '\n');
}

/** All texts of a document under the names that readers see. */
function textsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) =>
    ['title', 'summary', 'description'].includes(name) && typeof value === 'string'
      ? [value]
      : textsIn(value),
  );
}

function commentsOf(source: string): string[] {
  const found = source.match(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$|^\s*-- .*$/gm) ?? [];
  return found.map((comment) => comment.replaceAll(/\s*\n\s*(\*|\/\/|--)?\s?/g, ' '));
}

const pages = files.filter((file) => file.endsWith('.md'));

test('every page has plain words and sentences of at most 35 words', () => {
  for (const page of pages) {
    const prose = proseOf(read(page));
    assert.deepEqual([...faultsIn(read(page)), ...longIn(prose)], [], page);
  }
});

test('API document, errors, import and help have plain words and short sentences', async () => {
  const texts = [
    ...textsIn(openApiDocument()),
    ...Object.values(errorCatalogue).flatMap(({ when, detail }) => [when, detail]),
    ...Object.values(importSentences),
    // Each argument and flag of a help text has its own line, indented by two spaces.
    ...(await helpTexts()).flatMap((help) => help.split(/\n(?= {2}\S)/)),
  ];
  assert.ok(texts.length > 150, `${texts.length} texts`);
  for (const text of texts) assert.deepEqual([...faultsIn(text), ...longIn(text)], [], text);
});

test('comments have plain words', () => {
  for (const file of sources) {
    for (const comment of commentsOf(read(file))) {
      assert.deepEqual(faultsIn(comment), [], `${file}: ${comment.slice(0, 80)}`);
    }
  }
});

test('the check finds what it should', () => {
  assert.equal(faultsIn('Mend the path, or ask anew.').length, 2);
  assert.equal(longIn(`${'word '.repeat(36)}.`).length, 1);
  assert.deepEqual(faultsIn('Correct the path, then retry.'), []);
  assert.deepEqual(commentsOf('/** Mend\n * it. */\nlet a = 1; // anew\n').flatMap(faultsIn).length, 2);
});
