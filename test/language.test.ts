/** Plain English: words and sentences that are hard to read are found in everything that people read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCatalogue } from '@partner-network/contract/errors';
import { openApi } from '@partner-network/contract/openapi/document';
import { partnersApi } from '@partner-network/contract/openapi/partners';
import { importHints, importSentences } from '../packages/operator/src/ingest/rejections.ts';
import { describedCommands } from '../packages/partner-network/src/main.ts';
import { files, proseOf, read } from './sources.ts';

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
  [/\b(thereof|wherein|whereby|thereby|hence|thus|lest|albeit)\b/i, 'a plain word'],
  [/\b(upon|shall|ought|whence|likewise|forthwith|whom)\b/i, 'a plain word'],
  [/\bthose who\b|(?<!\bthe )\bone (that|which|who)\b/i, 'name the person or the thing'],
  [/\bsuch an?\b/i, 'name the thing, or "this"'],
  [/\b(that|what|which|it|they) (is|are) there\b/i, 'exists'],
  [/(?<!\bthere )\b(is|are|was|were) no (?!longer|more|less|faster|further)/i, 'is not a'],
  [/\btold\b|\btells\b|\btell (which|how|what|whether|apart)\b/i, 'says, shows, reports, distinguishes'],
  [/\bas (it is|they are)(?=[.,;:'")]| and\b)/i, 'unchanged'],
  [/\ball that (is|are|it|the|we)\b/i, 'everything that'],
  [/\ball or none\b/i, 'all or nothing'],
  [/, for (it|they|that|there|this)\b/i, 'because'],
  [/\bbut for\b|\bfor the sake of\b|\bfor all one can\b/i, 'except, because of'],
  [/\bsees? to\b/i, 'checks'],
  [/\bstands? (beside|there|twice)\b/i, 'is next to, occurs'],
  [/\b(of|by|in) whatever\b/i, 'any'],
  [/\b(is|are) yet to\b/i, 'in the future'],
  [/\bnow and then\b/i, 'sometimes'],
  [/\bat work\b/i, 'busy'],
  [/\bmakes? one\b/i, 'creates it'],
  [/\bof before\b|\bthe (one|page) before\b(?! the)/i, 'earlier, previous'],
  [/\bin the place of\b/i, 'instead of, in place of'],
  [/\bwith commas between\b/i, 'separated by commas'],
];

const longestSentence = 35;

/** Every avoided word, with the words around it. */
function faultsIn(text: string): string[] {
  return avoided.flatMap(([pattern, instead]) =>
    [...text.matchAll(new RegExp(pattern, 'gi'))].map(
      ({ 0: found, index }) =>
        `"…${text.slice(Math.max(0, index - 30), index + found.length + 20)}…": write ${instead}`,
    ),
  );
}

/** The sentences of a text. A link counts by its label, and a code span as one word. */
function sentencesOf(text: string): string[] {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`]*`/g, 'code')
    .split(/(?<=[.!?])\s+|\n\s*\n/);
}

function longIn(text: string): string[] {
  return sentencesOf(text)
    .filter((sentence) => sentence.split(/\s+/).length > longestSentence)
    .map((sentence) => `over ${longestSentence} words: "${sentence.slice(0, 60)}…"`);
}

/** Splits prose into paragraphs. A list item and a table's cell are paragraphs of their own. */
function paragraphsOf(prose: string): string {
  return prose
    .replaceAll(/^\s*\|.*$/gm, (row) => row.replaceAll(/\||<br>/g, '\n\n'))
    .replaceAll(/^\s*([-*]|\d+\.) /gm, '\n\n')
    .replaceAll(/^#+ .*$/gm, '\n');
}

/** All texts of a document under the names that readers see. */
function textsIn(part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) =>
    ['title', 'summary', 'description', 'detail'].includes(name) && typeof value === 'string'
      ? [value]
      : textsIn(value),
  );
}

/** A text in one line, without the marks at the start of a comment's lines and between parts of a string. */
function inOneLine(source: string): string {
  return source.replaceAll(/\s*\n\s*((\*|\/\/|--|#) ?)?/g, ' ').replaceAll(/(['"`]) \+ \1/g, '');
}

const pages = files.filter((file) => file.endsWith('.md'));

test('every page has plain words and sentences of at most 35 words', () => {
  const faults = pages.flatMap((page) =>
    [...faultsIn(inOneLine(read(page))), ...longIn(paragraphsOf(proseOf(page)))].map(
      (fault) => `${page}: ${fault}`,
    ),
  );
  assert.deepEqual(faults, []);
});

test('API document, errors, import and help have plain words and short sentences', async () => {
  const commands = (await describedCommands()).flatMap((group) => group.commands);
  const texts = [
    ...textsIn(openApi(partnersApi())),
    ...Object.values(errorCatalogue).flatMap(({ when, detail }) => [when, detail]),
    ...Object.values(importSentences),
    ...Object.values(importHints),
    // Each argument and flag of a help text has its own line, indented by two spaces.
    ...commands.flatMap(({ help }) => help.split(/\n(?= {2}\S)/)),
  ];
  assert.ok(texts.length > 150, `${texts.length} texts`);
  for (const text of texts) assert.deepEqual([...faultsIn(inOneLine(text)), ...longIn(text)], [], text);
});

test('comments, messages and names of tests have plain words', () => {
  const itself = 'test/language.test.ts';
  const written = files.filter((file) => /\.(ts|m?js|py|sql|lua|css|html|ya?ml|cfg)$/.test(file));
  assert.ok(written.includes(itself));
  // A value of Python, not a word.
  const textOf = (file: string) =>
    file.endsWith('.py') ? read(file).replaceAll(/\bNone\b/g, '') : read(file);
  const faults = written
    .filter((file) => file !== itself)
    .flatMap((file) => faultsIn(inOneLine(textOf(file))).map((fault) => `${file}: ${fault}`));
  assert.deepEqual(faults, []);
});
