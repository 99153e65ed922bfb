/** What a page of the site is. Each is Markdown first, and HTML, search and `llms.txt` are made from it. */
import { inProse, slugOf } from './markdown.ts';

export interface Page {
  /** Such as `/docs/guides/keys`. */
  readonly path: string;
  /** The heading of its group in the sidebar. */
  readonly group: string;
  /** Begins with its title as a heading. Links to other pages begin with a slash. */
  markdown(): Promise<string>;
  /** The end of the page, if it takes long to make: other pages and the search do not wait for it. */
  ending?(): Promise<string>;
  /** HTML that follows the section "Try it". */
  form?(): Promise<string>;
}

/** A page that was read. */
export interface Made extends Omit<Page, 'markdown' | 'form'> {
  readonly title: string;
  readonly text: string;
  /** Its headings of the second level. */
  readonly contents: readonly string[];
  readonly form: string;
}

export async function madeOf({ markdown, form, ...page }: Page): Promise<Made> {
  const text = await markdown();
  const title = /^# (.+)$/m.exec(text)?.[1] ?? '';
  const contents = Array.from(withoutCode(text).matchAll(/^## (.+)$/gm), ([, heading = '']) => heading);
  return { ...page, title, text, contents, form: (await form?.()) ?? '' };
}

/** Makes links relative to a page, so that they work under a path prefix of a proxy. */
export function relative(text: string, path: string, ending = ''): string {
  const up = upFrom(path);
  return inProse(text, (prose) =>
    prose.replace(/\]\(\/([^)#]*)(#[^)]*)?\)/g, (_, target: string, hash = '') => {
      const isPage = /^docs(\/|$)/.test(target) && !target.includes('.');
      return `](${up}${target}${isPage ? ending : ''}${hash})`;
    }),
  );
}

/** What leads from a page to the root of the service. */
export function upFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 2);
}

/** A part of a page that the search finds. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
  /** Its code blocks. */
  readonly code: string;
}

/** The sections of a page: what stands below each heading, without marks. */
export function sectionsOf({ path, title: page, text }: Made): Section[] {
  return inProse(text, (prose) => prose.replaceAll(/^(?=#{1,4} )/gm, '\u0000'))
    .split('\u0000')
    .slice(1)
    .map((part) => {
      const [, marks = '', title = '', body = ''] = /^(#+) ([^\n]+)(.*)$/s.exec(part)!;
      const id = marks === '#' ? path : `${path}#${slugOf(title)}`;
      const code = Array.from(body.matchAll(codeBlock), ([, source]) => source)
        .join(' ')
        .replaceAll(/\s+/g, ' ');
      return { id, title: plain(title), page: plain(page), text: plain(withoutCode(body)), code };
    });
}

/** A row of a table becomes its cells, and the names of its columns are left out. */
export function plain(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll(/^\|.*\n\|[-|]+$|^\| |(?<=\.) \|$|^- |[`*]/gm, '')
    .replaceAll(/ \|$/gm, '.')
    .replaceAll(' | ', ' – ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const codeBlock = /^```[^\n]*(.*?)^```$/gms;
const withoutCode = (text: string) => text.replaceAll(codeBlock, '');
