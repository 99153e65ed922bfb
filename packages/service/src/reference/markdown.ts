/**
 * Renders the Markdown that our guides and descriptions use: headings, paragraphs, flat lists, tables, code
 * blocks, code, emphasis and links. The plain pages need no more, and a library would be one more dependency.
 */
import { escapeMarkup as escaped } from '@partner-network/common/text';

/** Renders the text within a paragraph, a heading or a cell. */
export function inline(text: string): string {
  return marked(escaped(text));
}

/** Marks up text that is escaped already, so that the parts within a mark are not escaped again. */
function marked(text: string): string {
  const marks = /`([^`]+)`|\*\*(.+?)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(([^)]+)\)/gs;
  return text.replace(marks, (_, code, strong, emphasis, label, address) => {
    if (code !== undefined) return `<code>${code}</code>`;
    if (strong !== undefined) return `<strong>${marked(strong)}</strong>`;
    if (emphasis !== undefined) return `<em>${marked(emphasis)}</em>`;
    return `<a href="${address}">${marked(label)}</a>`;
  });
}

/** A code block, or lines up to the next empty line. */
const blocks = /^```\w*\n(.*?)^```$|^(?:[^\n]+(?:\n(?!```)|$))+/gms;
const heading = /^(#{2,5}) (?:<a id="([^"]+)"><\/a>)?(.+)$/;
const listItem = /^(?:-|\d+\.) /m;

/** Renders whole blocks. */
export function rendered(markdown: string): string {
  return Array.from(markdown.matchAll(blocks), ([block, code]) =>
    code === undefined ? textBlock(block.trim()) : `<pre><code>${escaped(code)}</code></pre>`,
  ).join('\n');
}

function textBlock(block: string): string {
  const [, marks, id, title = ''] = heading.exec(block) ?? [];
  if (marks !== undefined) {
    const level = marks.length;
    return `<h${level}${id === undefined ? '' : ` id="${id}"`}>${inline(title)}</h${level}>`;
  }
  if (block.startsWith('|')) return table(block.split('\n'));
  if (block.search(listItem) !== 0) return `<p>${inline(block)}</p>`;
  const list = block.startsWith('-') ? 'ul' : 'ol';
  const items = block.split(new RegExp(listItem, 'gm')).slice(1);
  return `<${list}>${items.map((item) => `<li>${inline(item.trim())}</li>`).join('')}</${list}>`;
}

function table([head = '', , ...rows]: string[]): string {
  const row = (line: string, tag: 'th' | 'td') => {
    const texts = line.slice(1, -1).split(/(?<!\\)\|/);
    const cells = texts.map((text) => inline(text.trim().replaceAll('\\|', '|')));
    return `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  };
  const body = rows.map((line) => row(line, 'td')).join('');
  return `<table><thead>${row(head, 'th')}</thead><tbody>${body}</tbody></table>`;
}
