/** The pages before somebody is signed in: they ask for an account or a key, and say how to get one. */
import { isSecure } from '@partner-network/common/text';
import { keyPrefixes } from '@partner-network/contract/environments';
import type { Exchange } from '@partner-network/http/handle';
import type { Refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { type Account, type Claims, isClaimLeftOut, nameOf } from '../../identity/account.ts';
import type { OidcSettings } from '../../identity/settings.ts';
import { type Html, html, type Value } from '../html.ts';
import type { Page } from '../layout.ts';
import { code, text } from '../parts.ts';

/** The address that starts a sign-in and returns to a page. */
export const startOf = (next: string) => `/console/sign-in/start?${new URLSearchParams({ next })}`;

/** The first page. `mistake` says why the last attempt failed, or what else stands in the way. */
export function signInPage(
  { rawHeaders }: Exchange,
  next: string,
  oidc: OidcSettings | undefined,
  mistake?: string,
): Page {
  // Browsers do not send the cookie with a link of another site, but with a link of this page.
  const isLinked = headerValues(rawHeaders, 'sec-fetch-site')[0] === 'cross-site';
  const again: Value = isLinked && html`<p>Signed in already? <a href="${next}">Open the page</a></p>`;
  const provided =
    oidc &&
    html`<p class="actions"><a class="button primary" href="${startOf(next)}">Sign in with
${oidc['oidc-issuer'].host}</a></p>`;
  return {
    title: 'Sign in',
    body: html`<div class="narrow"><h1>Sign in</h1>
${again}${mistake !== undefined && html`<p id="mistake" class="errors" role="alert">${mistake}</p>`}
${provided}${!oidc?.['oidc-only'] && keyForm(next, oidc !== undefined, mistake !== undefined)}</div>`,
  };
}

function keyForm(next: string, isSecond: boolean, isWrong: boolean): Html {
  const described = isWrong && html` aria-describedby="mistake" aria-invalid="true"`;
  return html`${isSecond && html`<h2>Or with a key</h2>`}
<form class="fields" method="post" action="/console/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="key">Administrative key</label>
<input id="key" name="key" type="password" required maxlength="256" autocomplete="current-password"
${!isSecond && html` autofocus`}${described}>
<p class="hint">It starts with pna_ and has the role VIEWER, SUPPORT or ADMIN. You stay signed in for 8
hours.</p>
<button class="${!isSecond && 'primary'}">Sign in</button>
</form>
<h2>No key yet?</h2>
<p>Ask an operator, or create a key on a machine with access to the database:</p>
<pre><code>partner-network admin-keys create --name your-name --role SUPPORT</code></pre>
<p>Add <code>--environment</code> and <code>--database</code> as for <code>partner-network admin</code>,
unless the variables of the service are set. The key is shown once.</p>`;
}

/** Why a key was refused, in words for a person. */
export function whyNotSignedIn({ code, errors }: Refusal, key: string): string {
  if (Object.values(keyPrefixes).some((prefix) => key.startsWith(prefix)))
    return "This is a partner's key, which begins with pn_. An administrative key begins with pna_.";
  if (code === 'UNAUTHORIZED') return 'This key is not known here. Check that you pasted all of it.';
  if (code !== 'INSUFFICIENT_ROLE') return errors[0]!.detail;
  return 'This key only sends batches. Sign in with a key that has the role VIEWER, SUPPORT or ADMIN.';
}

/** Why nobody can sign in at an address without TLS: browsers do not keep the cookie there. */
export function whyNotKept(publicUrl: string): string | undefined {
  return isSecure(publicUrl)
    ? undefined
    : `Browsers keep you signed in over https only. Put TLS before ${publicUrl}, and set --public-url.`;
}

/** A page that goes on by itself, also to an address of another site. */
export function goingOnPage(title: string, next: string): Page {
  return {
    title,
    next,
    body: html`<div class="narrow"><h1>${title}</h1><p><a href="${next}">Continue</a></p></div>`,
  };
}

/** The page of an account without a role: the claim that the console reads, and what to ask for. */
export function noRolePage(
  { actor, details: { subject } }: Account,
  settings: OidcSettings,
  claims: Claims,
  requestId: string,
): Page {
  const host = text(settings['oidc-issuer'].host);
  const name = settings['oidc-role-claim'];
  const claim = code(name);
  const found = claims[name] === undefined ? 'is absent, so it has' : 'of your account has';
  const why = isClaimLeftOut(claims, name)
    ? html`<p>Your account has too many groups: ${host} left the claim ${claim} out. Ask
an administrator there to send only the groups of this application, or its roles, and an operator to
name that claim in <code>--oidc-role-claim</code>.</p>`
    : html`<p>The claim ${claim} ${found} none of the values that give a role here.
Ask an administrator of ${host} for one of them:</p>
<ul>${settings['oidc-role'].map(([value, role]) => html`<li>${code(value)}: ${role}</li>`)}</ul>`;
  return {
    title: 'No role here',
    body: html`<div class="narrow"><h1>No role here</h1>
<p>You signed in at ${host} as <b>${text(nameOf(actor))}</b> (${code(subject)}), but this account has no
role in this console.</p>
${why}<p><a href="${startOf('/console')}&prompt=login">Sign in with another account</a></p>
<p class="hint">Request ${code(requestId)}</p></div>`,
  };
}
