/** Forms that choose what a list shows. They send a GET, so that an address can be kept. */
import { type Html, html } from './html.ts';

type Labels = Readonly<Record<string, string>>;

const isTime = (name: string) => name === 'since' || name === 'until';

/** A browser sends a time without seconds and zone. */
const localTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

export function utcOf(given: string): string {
  return localTime.test(given) ? `${given}${given.length === 16 ? ':00' : ''}Z` : given;
}

/** The filters of a query, as the API takes them. */
export function filtersOf(labels: Labels, query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    Object.keys(labels).flatMap((name) => {
      const value = query.get(name);
      return value === null ? [] : [[name, isTime(name) ? utcOf(value) : value.trim()]];
    }),
  );
}

export function filterForm(path: string, labels: Labels, query: URLSearchParams): Html {
  const fields = Object.entries(labels).map(([name, label]) => {
    const value = query.get(name) ?? '';
    const type = isTime(name) ? 'datetime-local' : 'text';
    const shown = isTime(name) ? value.replace(/(?:\.\d+)?Z$/, '') : value;
    return html`<label>${label}<input name="${name}" type="${type}" value="${shown}"></label>\n`;
  });
  const isAhead = utcOf(query.get('since') ?? '') > new Date().toISOString();
  return html`<form class="filters" method="get" action="${path}">${fields}<button>Filter</button>
<a href="${path}">Remove filters</a></form>
${isAhead && html`<p class="hint">From is in the future: choose an earlier time.</p>`}`;
}
