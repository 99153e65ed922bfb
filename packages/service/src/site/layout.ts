/** The frame of all pages: head, search, sidebar, the page itself, and links to its neighbours. */
import { icon, script, searchLibrary, style } from './assets.ts';
import { inline, rendered, slugOf } from './markdown.ts';
import { type Made, relative, upFrom } from './page.ts';

export interface Frame {
  /** The name of the site. */
  readonly name: string;
  /** What follows the name, such as the environment. */
  readonly mark: string;
}

/** What the search in the browser finds. */
export const sectionsPath = '/docs/sections.json';

/** What is shown: a page of the list, or one beside it, such as an error. */
export type Shown = Pick<Made, 'path' | 'title' | 'text'> & Partial<Made>;

export function htmlOf(frame: Frame, all: readonly Made[], shown: Shown): string {
  const { path, title } = shown;
  const up = upFrom(path);
  const address = (target: string) => up + target.slice(1);
  const markdown = `<link rel="alternate" type="text/markdown" href="${address(path)}.md">\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${inline(title).replaceAll(/<[^>]+>/g, '')}${title === frame.name ? '' : ` · ${frame.name}`}</title>
<link rel="icon" type="image/svg+xml" href="${address(icon[0])}">
${all.some((page) => page.path === path) ? markdown : ''}<link rel="stylesheet" href="${address(style[0])}">
<script type="module" src="${address(script[0])}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<button popovertarget="menu">Menu</button>
<a class="home" href="${address('/docs')}">${frame.name}</a>
<span class="environment">${frame.mark}</span>
<form role="search" action="${address('/docs/search')}" data-up="${up}"
 data-library="${address(searchLibrary[0])}" data-sections="${address(sectionsPath)}">
<label class="unseen" for="q">Search</label>
<input id="q" name="q" type="search" placeholder="Search" autocomplete="off" value="">
<ul id="hits" class="hits" hidden></ul>
</form>
</header>
<div class="frame">
<nav id="menu" popover aria-label="Pages">
${sidebar(all, shown, up)}
</nav>
<main id="main" tabindex="-1">
${content(shown)}
${around(all, shown, up)}
</main>
</div>
</body>
</html>
`;
}

function sidebar(all: readonly Made[], { path, contents = [] }: Shown, up: string): string {
  const link = (page: Made) => {
    const sections = contents.map((title) => `<li><a href="#${slugOf(title)}">${inline(title)}</a></li>`);
    const below = page.path === path && sections.length > 0 ? `<ul>${sections.join('')}</ul>` : '';
    const current = page.path === path ? ' aria-current="page"' : '';
    return `<li><a href="${up}${page.path.slice(1)}"${current}>${inline(page.title)}</a>${below}</li>`;
  };
  return [...Map.groupBy(all, ({ group }) => group)]
    .map(([group, pages]) => `<p>${group}</p>\n<ul>\n${pages.map(link).join('\n')}\n</ul>`)
    .join('\n');
}

/** The columns of an operation begin with these headings. */
const columns = /(?=<h2 id="(?:example-request|example-responses|parameters)">)/;

function content({ path, text, form }: Shown): string {
  const html = rendered(relative(text, path));
  const [start, request, responses, rest] = html.split(columns);
  if (rest === undefined) return `<article>\n${html}\n</article>`;
  return `<article class="columns">
<div>${start}</div>
<div class="beside">${request}${form}${responses}</div>
<div>${rest}</div>
</article>`;
}

function around(all: readonly Made[], { path }: Shown, up: string): string {
  const index = all.findIndex((page) => page.path === path);
  if (index < 0) return '';
  const link = (page: Made | undefined, rel: string, words: string) =>
    page &&
    `<a rel="${rel}" href="${up}${page.path.slice(1)}"><span>${words}</span> ${inline(page.title)}</a>`;
  const links = [link(all[index - 1], 'prev', 'Previous'), link(all[index + 1], 'next', 'Next')];
  return `<nav class="around" aria-label="Previous and next page">${links.join('\n')}</nav>
<footer><a href="${up}${path.slice(1)}.md">This page as Markdown</a></footer>`;
}
