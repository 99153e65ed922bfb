/** The first page: it asks for a key, and says how to get one. */
import type { Exchange } from '@partner-network/http/handle';
import type { Refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { html, type Value } from '../html.ts';
import type { Page } from '../layout.ts';
import { isLocal } from '../session.ts';

export function signInPage({ rawHeaders }: Exchange, next: string, mistake?: string): Page {
  // Browsers do not send the cookie with a link of another site, but with a link of this page.
  const isLinked = headerValues(rawHeaders, 'sec-fetch-site')[0] === 'cross-site';
  const again: Value = isLinked && html`<p>Signed in already? <a href="${next}">Open the page</a></p>`;
  const described = mistake !== undefined && html` aria-describedby="mistake" aria-invalid="true"`;
  return {
    title: 'Sign in',
    body: html`<div class="narrow"><h1>Sign in</h1>
${again}${mistake !== undefined && html`<p id="mistake" class="errors" role="alert">${mistake}</p>`}
<form class="fields" method="post" action="/console/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="key">Administrative key</label>
<input id="key" name="key" type="password" required maxlength="256" autocomplete="current-password"
autofocus${described}>
<p class="hint">It starts with pna_ and has the role VIEWER, SUPPORT or ADMIN. You stay signed in for 8
hours.</p>
<button class="primary">Sign in</button>
</form>
<h2>No key yet?</h2>
<p>Ask an operator, or create a key on a machine with access to the database:</p>
<pre><code>partner-network admin-keys create --name your-name --role SUPPORT</code></pre>
<p>Add <code>--environment</code> and <code>--database</code> as for <code>partner-network admin</code>,
unless the variables of the service are set. The key is shown once.</p></div>`,
  };
}

/** Why a key was refused, in words for a person. */
export function whyNotSignedIn({ code, errors }: Refusal): string {
  if (code === 'UNAUTHORIZED') return 'This key is not known here. Check that you pasted all of it.';
  if (code !== 'INSUFFICIENT_ROLE') return errors[0]!.detail;
  return 'This key only sends batches. Sign in with a key that has the role VIEWER, SUPPORT or ADMIN.';
}

/** Why nobody can sign in at an address without TLS: browsers do not keep the cookie there. */
export function whyNotKept(publicUrl: string): string | undefined {
  const isKept = publicUrl.startsWith('https:') || isLocal(publicUrl);
  return isKept
    ? undefined
    : `Browsers keep you signed in over https only. Put TLS before ${publicUrl}, and set --public-url.`;
}
