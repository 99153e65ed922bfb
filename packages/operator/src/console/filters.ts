/** Forms that choose what a list shows. They send a GET, so that an address can be kept. */
import { type Html, html } from './html.ts';
import type { Texts } from './visit.ts';

const isTime = (name: string) => name === 'since' || name === 'until';

/** A browser sends a time without seconds and zone. */
const localTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?$/;

export function utcOf(given: string): string {
  return localTime.test(given) ? `${given}${given.length === 16 ? ':00' : ''}Z` : given;
}

/** The filters of a query, as the API takes them. */
export function filtersOf(labels: Texts, query: Texts): Texts {
  const chosen = Object.entries(query).filter(([name]) => name in labels);
  return Object.fromEntries(chosen.map(([name, value]) => [name, isTime(name) ? utcOf(value) : value]));
}

export function filterForm(path: string, labels: Texts, query: Texts): Html {
  const fields = Object.entries(labels).map(([name, label]) => {
    const value = query[name] ?? '';
    const type = isTime(name) ? 'datetime-local' : 'text';
    const shown = isTime(name) ? value.replace(/(?:\.\d+)?Z$/, '') : value;
    return html`<label>${label}<input name="${name}" type="${type}" value="${shown}"></label>\n`;
  });
  const isAhead = utcOf(query.since ?? '') > new Date().toISOString();
  return html`<form class="filters" method="get" action="${path}">${fields}<button>Filter</button>
<a href="${path}">Remove filters</a></form>
${isAhead && html`<p class="hint">From is in the future: choose an earlier time.</p>`}`;
}
