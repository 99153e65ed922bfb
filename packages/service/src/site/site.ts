/** The routes of a site: its pages as HTML and as Markdown, the search, and `llms.txt`. */
import { httpBounds } from '@partner-network/common/bounds/http';
import { escapeMarkup as escaped } from '@partner-network/common/text';
import { bodyOf, bodyRoute } from '@partner-network/http/content';
import type { Route } from '@partner-network/http/handle';
import type { Refusal } from '@partner-network/http/refusal';
import { icon, isolation, script, searchLibrary, style } from './assets.ts';
import { htmlOf, sectionsPath } from './layout.ts';
import { type Made, madeOf, type Page, plain, relative, sectionsOf } from './page.ts';
import type { Hit } from './search.ts';

/** Only our own scripts, styles and images, and requests to the origin of the page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const typed = (type: string) => ['Content-Type', `${type}; charset=utf-8`, ...isolation];
const htmlHeaders = [
  ...typed('text/html'),
  ...['Content-Security-Policy', policy, 'Cross-Origin-Opener-Policy', 'same-origin'],
];
/** Pages change with a release. After this time, a browser asks for a new one. */
export const kept = ['Cache-Control', 'public, max-age=300'];
export const markdownHeaders = typed('text/markdown');

/** A page in place of an error, for a browser: its text and its headers. */
export type RefusalPage = (refused: Refusal, path: string) => Promise<readonly [string, readonly string[]]>;

export function createSite(name: string, mark: string, pages: readonly Page[]) {
  const frame = { name, mark };
  const all = once(() => Promise.all(pages.map(madeOf)));
  const search = once(async () => {
    const { searchOf } = await import('./search.ts');
    return searchOf((await all()).flatMap(sectionsOf));
  });
  /** The page of results, without any. The rest of it takes longer to make than a search. */
  const results = once(async () => {
    const shown = { path: '/docs/search', title: 'Search', text: '# Search' };
    return htmlOf(frame, await all(), shown).split(/(?<= value=")|(?=<\/article>)/);
  });
  /** A text that is made from all pages, on first use. */
  const route = (type: readonly string[], make: (all: Made[]) => string | Promise<string>): Route => {
    const body = bodyOf(async () => Buffer.from(await make(await all())));
    return bodyRoute(body, [...type, ...kept]);
  };
  const ofPage = ({ path, ending }: Page, index: number): [string, Route][] => {
    const wholeOf = async (made: Made[]) => {
      const page = made[index]!;
      return { ...page, text: page.text + ((await ending?.()) ?? '') };
    };
    const html = async (made: Made[]) => htmlOf(frame, made, await wholeOf(made));
    const markdown = async (made: Made[]) => relative((await wholeOf(made)).text, path, '.md');
    return [
      [path, route(htmlHeaders, html)],
      [`${path}.md`, route(markdownHeaders, markdown)],
    ];
  };
  const sections = route(typed('application/json'), (made) => JSON.stringify(made.flatMap(sectionsOf)));
  /** Not compressed: that takes longer than the rest, and each answer is another one. */
  const answers: Route = {
    answerMs: () => httpBounds.contentMs,
    async answer({ query, headers }) {
      const words = new URLSearchParams(query).get('q')?.trim() ?? '';
      const [head, box, end] = await results();
      const found = (await search())(words);
      headers.push(...htmlHeaders, ...kept);
      return head + escaped(words) + box + resultsOf(words, found) + end;
    },
  };
  const refusalPage: RefusalPage = async ({ errors: [error], status }, path) => {
    const isMissing = status === 404;
    const title = isMissing ? 'This page does not exist' : 'This page takes no such request';
    if (path.endsWith('.md'))
      return [relative(`# ${title}\n\nSee [all pages](/llms.txt).\n`, path), markdownHeaders];
    const made = await all();
    const advice =
      'Case matters in an address, and no slash is at its end. Search above, or go on from here:';
    const links = made.slice(0, 6).map((page) => `- [${page.title}](${page.path})`);
    const text = `# ${title}\n\n${isMissing ? advice : error!.detail}\n\n${links.join('\n')}`;
    return [htmlOf(frame, made, { path, title, text }), htmlHeaders];
  };
  const routes: [string, Route][] = [
    ...pages.flatMap(ofPage),
    ['/docs/search', answers],
    [sectionsPath, sections],
    ['/llms.txt', route(typed('text/plain'), (made) => indexOf(name, made))],
    icon,
    style,
    script,
    searchLibrary,
  ];
  return { routes, refusalPage };
}

/** Caches what is made, but no failure: the next request tries again. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((fault) => {
      made = undefined;
      throw fault;
    });
    return made;
  };
}

function resultsOf(words: string, found: readonly Hit[]): string {
  if (words === '') return '<p>Search for a word, or for the code of an error, in the box above.</p>';
  if (found.length === 0) return `<p>Nothing found for “${escaped(words)}”. Try another word.</p>`;
  const items = found.map(({ id, title, page, excerpt }) => {
    const where = page === title ? '' : ` <i>${escaped(page)}</i>`;
    return `<li><a href="..${id}">${escaped(title)}</a>${where}<span>${escaped(excerpt)}</span></li>`;
  });
  return `<p>Found for “${escaped(words)}”:</p>\n<ul class="hits">\n${items.join('\n')}\n</ul>`;
}

/** The pages as Markdown, for programs that read: https://llmstxt.org. */
function indexOf(name: string, all: readonly Made[]): string {
  const groups = [...Map.groupBy(all, ({ group }) => group)].map(([group, pages]) => {
    const links = pages.map(({ title, path, text }) => {
      return `- [${title}](${path}): ${plain(text.split('\n\n')[1] ?? '')}`;
    });
    return `## ${group}\n\n${links.join('\n')}\n`;
  });
  return relative(`# ${name}\n\n${groups.join('\n')}`, '/llms.txt', '.md');
}
