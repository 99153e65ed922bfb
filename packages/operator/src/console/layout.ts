/** The frame of all pages: head, search, navigation and the words around the content. */
import { readFileSync } from 'node:fs';
import type { Environment } from '@partner-network/contract/environments';
import type { Refusal } from '@partner-network/http/refusal';
import { assetOf, base, icon } from '@partner-network/service/site/assets';
import { type Html, html } from './html.ts';
import type { Session } from './session.ts';

const read = (name: string) => readFileSync(new URL(`../../assets/${name}`, import.meta.url));

export const style = assetOf('/console/console.css', 'text/css', base, read('console.css'));
export const copyScript = assetOf('/console/copy.js', 'text/javascript', read('copy.js'));

/** With `no-referrer`, browsers would not say where a form comes from. */
export const headersOf = ({ hasCopy = false }: Page): string[] =>
  [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    ['Referrer-Policy', 'same-origin'],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    [
      'Content-Security-Policy',
      `default-src 'none'; ${hasCopy ? "script-src 'self'; " : ''}style-src 'self'; img-src 'self'; ` +
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ],
  ].flat();

/** What a page shows. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** The entry of the navigation to which the page belongs. */
  readonly place?: Place;
  /** The address to which the page goes on by itself. */
  readonly next?: string;
  /** Whether it has the button that copies a new key, and the script of it. */
  readonly hasCopy?: boolean;
}

const places = {
  '': 'Home',
  receipts: 'Receipts',
  data: 'Data',
  audit: 'Audit log',
  health: 'Health',
} as const;
type Place = keyof typeof places;

export interface Frame {
  readonly environment: Environment;
  readonly session?: Session | undefined;
  readonly notice?: string | undefined;
}

/** The whole page. Without a session it has neither search nor navigation. */
export function pageOf(
  { title, body, place, next, hasCopy }: Page,
  { environment, session, notice }: Frame,
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${next !== undefined && html`<meta http-equiv="refresh" content="0; url=${next}">`}
<title>${title} · Partner Network</title>
<link rel="icon" type="image/svg+xml" href="${icon[0]}">
<link rel="stylesheet" href="${style[0]}">
${hasCopy && html`<script type="module" src="${copyScript[0]}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<div class="bar">
<a class="home" href="/console">Partner Network</a>
<div class="where"><span class="environment ${environment}">${environment}</span>
${session && html`<span class="role">${session.caller.role}</span>`}</div>
${session && signedIn(session, place)}
</div>
</header>
<main id="main" tabindex="-1">
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
${body}
</main>
<footer><p>All times are in UTC.</p></footer>
</body>
</html>
`.toString();
}

function signedIn(session: Session, current: Place | undefined): Html {
  const { name } = session;
  const links = Object.entries(places).map(([place, label]) => {
    const path = place === '' ? '/console' : `/console/${place}`;
    return html`<a href="${path}"${place === current && html` aria-current="page"`}>${label}</a>\n`;
  });
  return html`<form class="search" role="search" method="post" action="/console/search">
${tokenField(session)}<label class="unseen" for="id">Id, partner’s name or leaked key</label>
<input id="id" name="id" type="search" placeholder="Id, name or leaked key" required maxlength="256"
autocomplete="off" spellcheck="false"><button>Find</button></form>
<div class="places"><nav aria-label="Console">${links}</nav>
<form class="person" method="post" action="/console/sign-out">${tokenField(session)}
<bdi class="name">${name}</bdi><button>Sign out</button></form>
</div>`;
}

export const tokenField = (session: Session): Html =>
  html`<input type="hidden" name="token" value="${session.seal('form', '')}">`;

const headings: Readonly<Record<number, string>> = {
  400: 'Check what you sent',
  401: 'Sign in again',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible',
  500: 'Something went wrong',
  503: 'Not possible at the moment',
};

/** The page of an error response. `state` says how things stand after it. */
export function refusalPage(refused: Refusal, requestId: string, state?: string): Page {
  const ofStatus = headings[refused.status] ?? 'Check what you sent';
  const title = refused.code === 'SIGN_IN_FAILED' ? 'You are not signed in' : ofStatus;
  return {
    title,
    body: html`<h1>${title}</h1>${errorList(refused)}${state !== undefined && html`<p>${state}</p>`}
<p><a href="/console">To the start</a></p><p class="hint">Request <code>${requestId}</code></p>`,
  };
}

/** By code and field: the sentences of the API are about bodies and paths. */
const ownWords: Readonly<Record<string, string>> = {
  'SERVICE_UNAVAILABLE downloads': 'Other downloads are under way. Try again when one of them has ended.',
  'SERVICE_UNAVAILABLE undefined': 'Try again in a moment. If this stays, an operator must see the log.',
  'VALUE_EMPTY reason': 'Write a reason.',
  'VALUE_EMPTY name': 'Write a name.',
  'INVALID_ENUM_VALUE scopes': 'Choose at least one scope.',
  'CONFIRMATION_MISMATCH confirm': 'This is another id than that of the customer. Nothing was deleted.',
};

export function errorList({ errors }: Pick<Refusal, 'errors'>): Html {
  const items = errors.map(({ code, detail, field }) => {
    const own = ownWords[`${code} ${field}`];
    return html`<li>${own ?? detail}${own === undefined && field && html` (${field})`}</li>`;
  });
  return html`<div class="errors" role="alert"><ul>${items}</ul></div>`;
}
