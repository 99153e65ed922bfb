/**
 * Renders the Markdown that our pages use: headings, paragraphs, flat lists, tables, code blocks, code,
 * emphasis and links. A run of code blocks with titles becomes tabs, which need no script.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { escapeMarkup as escaped } from '@partner-network/common/text';

/** Renders the text within a paragraph, a heading or a cell. */
export function inline(text: string): string {
  return marked(escaped(text));
}

/** Marks up text that is escaped already, so that the parts within a mark are not escaped again. */
function marked(text: string): string {
  const marks = /`([^`]+)`|\*\*(.+?)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)]+)\)/gs;
  return text.replace(marks, (_, code, strong, emphasis, label, address) => {
    // What can be longer than a line of a phone may be broken.
    if (code !== undefined) return `<code${code.length > 32 ? ' class="long"' : ''}>${code}</code>`;
    if (strong !== undefined) return `<strong>${marked(strong)}</strong>`;
    if (emphasis !== undefined) return `<em>${marked(emphasis)}</em>`;
    return `<a href="${address}">${marked(label)}</a>`;
  });
}

/** A run of code blocks with titles, a code block, or lines up to the next empty line. */
const blocks = /(?:^```\w+ title=.*?^```$\n*)+|^```\w*\n.*?^```$|^(?:[^\n]+(?:\n(?!```)|$))+/gms;
export const fence = /^```(\w*)(?: title="([^"\n]*)")?\n(.*?)^```$/gms;
const heading = /^(#{1,5}) (.+)$/;
const listItem = /^(?:-|\d+\.) /m;

/** Renders whole blocks. */
export function rendered(markdown: string): string {
  return Array.from(markdown.matchAll(blocks), ({ 0: block, index }) => {
    if (!block.startsWith('```')) return textBlock(block.trim());
    const codes = Array.from(block.matchAll(fence), ([, , title = '', source = '']) => ({
      title,
      pre: `<pre><code>${codeOf(source)}</code></pre>`,
    }));
    return codes[0]!.title === '' ? codes[0]!.pre : tabs(`tabs-${index}`, codes);
  }).join('\n');
}

/** Each tab is a radio button, its label and what it shows. Styles show what the checked one is before. */
function tabs(group: string, codes: readonly { title: string; pre: string }[]): string {
  const parts = codes.map(({ title, pre }, index) => {
    const id = `${group}-${index}`;
    const button = `<input type="radio" name="${group}" id="${id}"${index === 0 ? ' checked' : ''}>`;
    return `${button}<label for="${id}">${escaped(title)}</label><div>${pre}</div>`;
  });
  return `<fieldset class="tabs"><legend class="unseen">Show</legend>${parts.join('')}</fieldset>`;
}

/** The HTML of code blocks by the digest of their text. `npm run docs` writes it with a library. */
let highlighted: Readonly<Record<string, string>> | undefined;

/** A text that is different in each service, such as one with its address, has no colors. */
function codeOf(source: string): string {
  highlighted ??= JSON.parse(
    readFileSync(new URL('../../assets/site/highlighted.json', import.meta.url), 'utf8'),
  ) as Readonly<Record<string, string>>;
  return highlighted[digestOf(source)] ?? escaped(source);
}

export function digestOf(source: string): string {
  return createHash('sha256').update(source).digest('base64url').slice(0, 12);
}

function textBlock(block: string): string {
  const [, marks, title = ''] = heading.exec(block) ?? [];
  if (marks !== undefined) {
    const level = `h${marks.length}`;
    return `<${level} id="${slugOf(title)}">${inline(title)}</${level}>`;
  }
  if (block.startsWith('|')) return table(block.split('\n'));
  if (block.search(listItem) !== 0) return `<p>${inline(block)}</p>`;
  const list = block.startsWith('-') ? 'ul' : 'ol';
  const items = block.split(new RegExp(listItem, 'gm')).slice(1);
  return `<${list}>${items.map((item) => `<li>${inline(item.trim())}</li>`).join('')}</${list}>`;
}

function table([head = '', , ...rows]: string[]): string {
  const cellsOf = (line: string) => {
    const texts = line.slice(1, -1).split(/(?<!\\)\|/);
    return texts.map((text) => inline(text.trim().replaceAll('\\|', '|')));
  };
  const names = cellsOf(head);
  // On a phone, a cell has its name beside it.
  const row = (line: string) => cellsOf(line).map((cell, at) => `<td data-label="${names[at]}">${cell}</td>`);
  const body = rows.map((line) => `<tr>${row(line).join('')}</tr>`).join('');
  const heads = names.map((name) => `<th>${name}</th>`).join('');
  return `<table><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table>`;
}

/** The name of a heading in links, as GitHub makes it. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

/** Changes the text outside of code blocks. */
export function inProse(markdown: string, change: (prose: string) => string): string {
  // Every second part is a code block.
  const parts = markdown.split(/(^```.*?^```$)/gms);
  return parts.map((part, index) => (index % 2 === 1 ? part : change(part))).join('');
}
